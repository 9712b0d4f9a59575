// SPDX-License-Identifier: MIT
// The user's own directories: where each kind of file lives (XDG Base Directory Specification), creating them, and
// scratch directories that remove themselves.
//
// Invariant: directories made here have mode 0700; a relative path in the environment is ignored, as the specification
// demands.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace penna {

// $`variable` (XDG_CACHE_HOME, ...), or else `below_home` (".cache") in $HOME. Empty if neither is an absolute path.
std::optional<std::string> user_directory(const char* variable, const char* below_home);

// $XDG_STATE_HOME/penna, or its subdirectory `name`, where state that outlives a run is kept: a console's history,
// recordings to push. Created if missing.
Result<std::string> state_home(const std::string& name = "");

// Creates `path` and missing parents. An existing directory is no error.
Result<> make_private_directories(const std::string& path);

// A new directory in another one; removed with its contents by the destructor.
class ScratchDirectory {
 public:
  // The error says why none can be created in `parent`.
  static Result<ScratchDirectory> make_in(const std::string& parent);
  ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;
  ~ScratchDirectory();

  const std::string& path() const { return path_; }

 private:
  explicit ScratchDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace penna
