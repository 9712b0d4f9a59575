// SPDX-License-Identifier: MIT
// See source_files.h.
#include "view/answers/source_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/fd.h"
#include "base/file.h"

namespace penna {
namespace {

namespace fs = std::filesystem;

// Empty: it does not exist.
std::string real_path(const fs::path& path) {
  std::error_code trouble;
  const fs::path real = fs::canonical(path, trouble);
  return trouble ? std::string() : real.string();
}

bool lies_in(const std::string& path, const std::string& directory) {
  return directory == "/" ||
         (path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/');
}

Result<std::string> read_text(const std::string& path, struct stat* status) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!file || ::fstat(file.get(), status) != 0)
    return Error{fmt::format("{} cannot be read: {}", path, errno_text(errno))};
  if (!S_ISREG(status->st_mode)) return Error{fmt::format("{} is no file", path)};
  if (static_cast<uint64_t>(status->st_size) > SourceFiles::kMostBytes)
    return Error{fmt::format("{} is larger than {} MiB", path, SourceFiles::kMostBytes >> 20)};
  std::string text(static_cast<size_t>(status->st_size), '\0');
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{fmt::format("{} cannot be read: {}", path, errno_text(errno))};
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  text.resize(have);
  if (text.find('\0') != std::string::npos) return Error{fmt::format("{} is no text", path)};
  return text;
}

}  // namespace

SourceFiles::SourceFiles(const std::vector<std::string>& directories, uint64_t start_ns) : start_ns_(start_ns) {
  for (const std::string& directory : directories)
    if (std::string real = real_path(directory); !real.empty()) directories_.push_back(std::move(real));
}

std::string SourceFiles::find(const std::string& name) const {
  const fs::path path(name);
  const auto allowed = [&](const std::string& real) {
    return !real.empty() && std::any_of(directories_.begin(), directories_.end(),
                                        [&](const std::string& directory) { return lies_in(real, directory); });
  };
  if (path.is_absolute())
    if (std::string real = real_path(path); allowed(real)) return real;
  std::vector<fs::path> parts;
  for (const fs::path& part : path.relative_path()) parts.push_back(part);
  for (size_t first = 0; first < parts.size(); ++first) {
    fs::path end;
    for (size_t i = first; i < parts.size(); ++i) end /= parts[i];
    for (const std::string& directory : directories_)
      if (std::string real = real_path(fs::path(directory) / end); allowed(real)) return real;
  }
  return {};
}

Result<SourceText> SourceFiles::read(const std::string& name) const {
  const std::string path = find(name);
  if (path.empty())
    return Error{fmt::format("{} is in none of the directories that may be shown: give it by --source-dir DIR", name)};
  struct stat status {};
  const std::string text = PENNA_TRY(read_text(path, &status));
  SourceText source;
  source.path = path;
  const auto changed_ns =
      static_cast<uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(status.st_mtim.tv_nsec);
  source.is_newer = changed_ns > start_ns_;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const size_t length = end > at && text[end - 1] == '\r' ? end - at - 1 : end - at;
    source.lines.push_back(text.substr(at, length));
    at = end + 1;
  }
  return source;
}

}  // namespace penna
