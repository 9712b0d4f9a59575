// SPDX-License-Identifier: MIT
// Directories of the user's own: where files of a kind live (XDG Base Directory Specification), making them, and one to work
// in that is gone afterwards.
//
// Invariant: directories made here have mode 0700; a relative path in the environment is ignored, as the specification
// demands.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace penna {

// What $`variable` (XDG_CACHE_HOME, ...) names, or else `below_home` (".cache") in $HOME. Nothing where neither is absolute.
std::optional<std::string> user_directory(const char* variable, const char* below_home);

// Makes `path` and whatever is missing above it. No error where it is there already.
Result<> make_private_directories(const std::string& path);

// A new directory in another one. Removes itself with all in it.
class ScratchDirectory {
 public:
  // The error says why none can be made in `parent`.
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
