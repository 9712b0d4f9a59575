// SPDX-License-Identifier: MIT
// See settings_files.h.
#include "cli/settings_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/fd.h"
#include "base/file.h"
#include "base/nearest_name.h"
#include "base/say.h"
#include "cli/verbs.h"

namespace penna {
namespace {

enum Layer { kUser, kProject, kEnvironment };

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

// Ours, or, as root through sudo, the calling user's.
bool is_trusted(uid_t owner) {
  if (owner == ::geteuid()) return true;
  const std::string caller = variable("SUDO_UID");
  return ::geteuid() == 0 && !caller.empty() && caller == std::to_string(owner);
}

// Opened first, then checked, so that it cannot be swapped in between. Empty and not is_read: it is ignored.
Result<std::string> read_trusted(SettingsFile& file) {
  constexpr off_t kMost = 1 << 20;
  const Fd opened(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened) {
    file.why_not = errno == ENOENT || errno == ENOTDIR ? "not there" : errno_text(errno);
    return std::string();
  }
  struct stat status {};
  if (::fstat(opened.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > kMost)
    return Error{fmt::format("{}: this is no file of settings", file.path)};
  if (!is_trusted(status.st_uid)) {
    file.why_not = fmt::format("belongs to another user (uid {})", status.st_uid);
    return std::string();
  }
  std::string text(static_cast<size_t>(status.st_size), '\0');
  const ssize_t got = ::pread(opened.get(), text.data(), text.size(), 0);
  if (got < 0) return Error{fmt::format("{}: {}", file.path, errno_text(errno))};
  text.resize(static_cast<size_t>(got));
  file.is_read = true;
  return text;
}

std::string user_file() {
  const std::string config = variable("XDG_CONFIG_HOME"), home = variable("HOME");
  // Relative paths are to be ignored (XDG Base Directory Specification).
  if (config.starts_with('/')) return config + "/penna/config.toml";
  return home.empty() ? std::string() : home + "/.config/penna/config.toml";
}

// The nearest one from here upwards; empty: none.
std::string project_file() {
  std::error_code error;
  std::filesystem::path directory = std::filesystem::current_path(error);
  while (!error && !directory.empty()) {
    const std::filesystem::path file = directory / ".penna.toml";
    if (::access(file.c_str(), F_OK) == 0) return file.string();
    if (directory == directory.root_path()) break;
    directory = directory.parent_path();
  }
  return {};
}

Result<> add_file(const std::string& path, int layer, WrittenSettings& settings) {
  if (path.empty()) return ok();
  SettingsFile& file = settings.files.emplace_back();
  file.path = path;
  const std::string text = PENNA_TRY(read_trusted(file));
  return file.is_read ? add_toml(text, path, layer, why_no_verb, settings.lines) : ok();
}

// A setting for all verbs must be an option of at least one.
Result<> check_for_all(const WrittenSettings& settings) {
  std::vector<OptionTable> tables;
  for (const WrittenSetting& line : settings.lines) {
    if (!line.verb.empty()) continue;
    if (tables.empty())
      for (const Verb& verb : verbs()) tables.push_back(option_table(verb));
    NearestName nearest(line.setting.option.substr(line.setting.option.find_first_not_of('-')));
    bool found = false;
    for (const OptionTable& table : tables) {
      found |= table.find(line.setting.option) != nullptr;
      for (const OptionRow& row : table.options) nearest.see(row.key());
    }
    if (!found) return Error{fmt::format("{}: no verb has an option {}", line.setting.origin, nearest.text())};
  }
  return ok();
}

}  // namespace

Result<> add_words(const std::string& words, int layer, WrittenSettings& settings) {
  constexpr char kOrigin[] = "PENNA_OPTIONS";
  std::istringstream stream(words);
  std::string word, verb;
  while (stream >> word) {
    if (find_verb(word) != nullptr) {
      verb = word;
      continue;
    }
    const size_t equals = word.find('=');
    Setting setting{word.substr(0, equals), {}, true, verb.empty(), layer, kOrigin};
    if (word.size() < 2 || word[0] != '-' || (word[1] != '-' && word.size() != 2))
      return Error{
          fmt::format("{}: '{}' is neither a verb nor an option: write --NAME or --NAME=VALUE", kOrigin, word)};
    if (equals != std::string::npos) setting.values.push_back(word.substr(equals + 1));
    settings.lines.push_back({verb, std::move(setting)});
  }
  return ok();
}

Result<WrittenSettings> read_settings() {
  WrittenSettings settings;
  PENNA_TRY(add_file(user_file(), kUser, settings));
  PENNA_TRY(add_file(project_file(), kProject, settings));
  PENNA_TRY(add_words(variable("PENNA_OPTIONS"), kEnvironment, settings));
  PENNA_TRY(check_for_all(settings));
  return settings;
}

Result<Settings> settings_of_verb(const std::string& verb) {
  const WrittenSettings written = PENNA_TRY(read_settings());
  for (const SettingsFile& file : written.files)
    if (file.why_not.starts_with("belongs")) say(fmt::format("{} {}: it is not read", file.path, file.why_not));
  Settings settings;
  for (const WrittenSetting& line : written.lines)
    if (line.verb.empty() || line.verb == verb) settings.push_back(line.setting);
  return settings;
}

}  // namespace penna
