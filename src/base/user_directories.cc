// SPDX-License-Identifier: MIT
// See user_directories.h.
#include "base/user_directories.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"

namespace penna {

std::optional<std::string> user_directory(const char* variable, const char* below_home) {
  const char* const named = std::getenv(variable);
  if (named != nullptr && *named == '/') return named;
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return fmt::format("{}/{}", home, below_home);
  return {};
}

Result<std::string> state_home(const std::string& name) {
  const std::optional<std::string> state = user_directory("XDG_STATE_HOME", ".local/state");
  if (!state) return Error{"neither XDG_STATE_HOME nor HOME names a directory: set one of them"};
  const std::string directory = *state + "/penna" + (name.empty() ? "" : "/" + name);
  PENNA_TRY(make_private_directories(directory));
  return directory;
}

Result<> make_private_directories(const std::string& path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string each = path.substr(0, slash);
    // An existing parent may be unwritable and still hold a directory of ours: only the last error counts.
    const bool is_made = ::mkdir(each.c_str(), 0700) == 0 || errno == EEXIST;
    if (!is_made && slash == path.npos) return Error{fmt::format("cannot make {}: {}", path, errno_text(errno))};
    if (slash == path.npos) return ok();
  }
}

Result<ScratchDirectory> ScratchDirectory::make_in(const std::string& parent) {
  std::string path = (std::filesystem::path(parent) / ".penna-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) return Error{errno_text(errno)};
  return ScratchDirectory(std::move(path));
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace penna
