// SPDX-License-Identifier: MIT
// Files that Penna creates, replaces or removes, also where other users may have been first (/tmp).
//
// Why: open(O_CREAT) writes through any link, and the kernel's protections (protected_symlinks, protected_regular,
// protected_fifos, protected_hardlinks) are off on many machines; so their rules are applied here, to every component
// of a path.
// Invariant: what another user left in a world-writable directory is neither followed nor written; no file is truncated
// before it is known to be Penna's to truncate.
#pragma once

#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace penna {

struct OutputFile {
  enum class Links { kFollow, kRefuse } links = Links::kFollow;  // for the path itself; /dev/stdout is one
  bool must_be_new = false;
  std::string if_exists = "choose another name";  // the next step, if it must be new and exists
  int flags = 0;                                  // in addition to those that follow from the above
  unsigned mode = 0666;
};

// Opens the file for writing (with O_RDWR in the flags: both). Only empty_file() truncates it.
Result<Fd> open_output(const std::string& path, const OutputFile& request);
Result<> empty_file(const Fd& file, const std::string& path);

// A file that replaces one that others may be reading: it is written next to it, and keeps its owner and mode; a
// process that has the old one open keeps it whole. If there is nothing to keep, or no room next to it, it is the named
// file itself.
class Replacement {
 public:
  static Result<Replacement> open(const std::string& path, const OutputFile& request);
  Replacement() = default;
  Replacement(Replacement&& other) noexcept;
  Replacement& operator=(Replacement&& other) noexcept;
  ~Replacement();  // without put_in_place(), the old one stays

  const Fd& old() const { return old_; }  // as opened; empty: same as file()
  Fd& file() { return file_; }
  bool is_beside() const { return !temporary_.empty(); }
  Result<> put_in_place();

 private:
  bool create_temporary(const OutputFile& request);
  std::string path_;
  Fd directory_, old_, file_;
  std::string name_, temporary_;  // in the directory; empty: not beside it, or already in place
};

// An empty directory, created if it does not exist: never one that another user left in a world-writable directory.
// Files are created relative to the returned descriptor, so names on the way no longer matter.
Result<Fd> open_output_directory(const std::string& path);
Result<Fd> open_new_in(const Fd& directory, const std::string& name, const std::string& path_of_directory);

// The owner of this name, if another user left it in a world-writable directory. It is neither followed nor read as
// configuration.
std::optional<unsigned> left_by_another(const std::string& path);

// Removes a regular file of this user; leaves everything else.
void remove_own_file(const std::string& path);

// Whether anything has this name, even a dangling link.
bool is_taken(const std::string& path);

}  // namespace penna
