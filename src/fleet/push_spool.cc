// SPDX-License-Identifier: MIT
// See push_spool.h. A note is a file of settings, and is read as one.
#include "fleet/push_spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdlib>

#include "base/directory.h"
#include "base/file.h"
#include "base/hex_text.h"
#include "base/user_directories.h"
#include "options/settings_toml.h"

namespace penna {
namespace {

constexpr std::string_view kEnding = ".toml";

Result<std::string> spool_directory() { return state_home("push"); }

void take(const Setting& setting, PushNote& note) {
  const std::string text = setting.values.empty() ? "" : setting.values[0];
  if (setting.option == "--recording") note.recording = text;
  if (setting.option == "--to") note.server.url = text;
  if (setting.option == "--database") note.server.database = text;
  if (setting.option == "--user") note.server.user = text;
  if (setting.option == "--password-file") note.server.password_file = text;
  if (setting.option == "--token-file") note.server.token_file = text;
  if (setting.option == "--attempt") note.attempt = static_cast<uint32_t>(std::strtoul(text.c_str(), nullptr, 10));
  if (setting.option == "--label")
    for (const std::string& label : setting.values)
      note.labels.emplace_back(label.substr(0, label.find('=')), label.substr(label.find('=') + 1));
}

std::string why_no_table(const std::string& /*name*/) { return "a note has no tables"; }

}  // namespace

std::string push_note_name(const Recording& recording, const ServerOptions& server) {
  const Result<std::string> address = server_address(server.url);
  const std::string place = (address ? *address : server.url) + " " + server.database;
  const auto identity = recording.identity();
  return fmt::format("{}-{:016x}", hex_text(identity), XXH3_64bits(place.data(), place.size()));
}

void forget_push(const std::string& recording, const ServerOptions& server) {
  const Result<Recording> opened = Recording::open(recording);
  Result<PushSpool> spool = opened ? PushSpool::open(push_note_name(*opened, server)) : Error{};
  if (spool) spool->remove();
}

Result<std::vector<std::string>> PushSpool::names() {
  const std::string directory = PENNA_TRY(spool_directory());
  return names_with_ending(directory, kEnding);
}

Result<PushSpool> PushSpool::open(const std::string& name) {
  PushSpool spool;
  const std::string directory = PENNA_TRY(spool_directory());
  spool.path_ = fmt::format("{}/{}{}", directory, name, kEnding);
  // A separate lock file, because the note itself is replaced when it changes.
  const std::string lock = fmt::format("{}/{}.lock", directory, name);
  struct stat held {
  }, named{};
  do {  // until it is the lock of this name: its last holder may have removed it
    spool.lock_ = Fd(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!spool.lock_) return Error{fmt::format("cannot write {}: {}", lock, errno_text(errno))};
    if (::flock(spool.lock_.get(), LOCK_EX | LOCK_NB) != 0)
      return Error{"another penna pushes this recording just now: let it come to its end"};
  } while (::fstat(spool.lock_.get(), &held) != 0 || ::stat(lock.c_str(), &named) != 0 || held.st_ino != named.st_ino);
  spool.is_new_ = ::access(spool.path_.c_str(), F_OK) != 0;
  return spool;
}

Result<PushNote> PushSpool::read() const {
  std::vector<WrittenSetting> settings;
  const std::string text = PENNA_TRY(read_file(path_));
  PENNA_TRY(add_toml(text, path_, 0, why_no_table, settings));
  PushNote note;
  for (const WrittenSetting& line : settings) take(line.setting, note);
  if (note.recording.empty() || note.server.url.empty())
    return Error{fmt::format("{} names no recording or no server: remove it, and push the recording again", path_)};
  return note;
}

Result<> PushSpool::write(const PushNote& note) {
  std::string text = fmt::format("recording = {}\nto = {}\n", toml_text(note.recording), toml_text(note.server.url));
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) text += fmt::format("{} = {}\n", key, toml_text(value));
  };
  add("database", note.server.database);
  add("user", note.server.user);
  add("password-file", note.server.password_file);
  add("token-file", note.server.token_file);
  text += fmt::format("attempt = {}\nlabel = [", note.attempt);
  for (const auto& [name, value] : note.labels)
    text += fmt::format("{}{}", name == note.labels.front().first ? "" : ", ", toml_text(name + "=" + value));
  text += "]\n";
  const std::string beside = path_ + ".new";
  const Fd file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file || !write_all(file, text) || ::fdatasync(file.get()) != 0 || ::rename(beside.c_str(), path_.c_str()) != 0)
    return Error{fmt::format("cannot write {}: {}", path_, errno_text(errno))};
  return ok();
}

void PushSpool::remove() {
  ::unlink(path_.c_str());
  std::string lock = path_;
  lock.replace(lock.size() - kEnding.size(), kEnding.size(), ".lock");
  ::unlink(lock.c_str());
}

}  // namespace penna
