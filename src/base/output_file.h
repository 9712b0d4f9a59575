// SPDX-License-Identifier: MIT
// Files that Penna makes, replaces or removes, also where other users may have been first (/tmp).
//
// Why: open(O_CREAT) writes through any link, and what the kernel has against it (protected_symlinks,
// protected_regular, protected_fifos, protected_hardlinks) is off on many machines; so its rules are kept here, for
// every part of a path.
// Invariant: what another user left in a directory of all is neither followed nor written; nothing is emptied before it
// is known to be ours to empty.
#pragma once

#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace penna {

struct OutputFile {
  enum class Links { kFollow, kRefuse } links = Links::kFollow;  // the path itself; /dev/stdout is one
  bool must_be_new = false;
  std::string when_there = "choose another name";  // the next step, when it must be new and is there
  int flags = 0;                                   // beside those that follow from the above
  unsigned mode = 0666;
};

// Opens the file for writing (O_RDWR among the flags: for both). It is emptied only by empty_file().
Result<Fd> open_output(const std::string& path, const OutputFile& request);
Result<> empty_file(const Fd& file, const std::string& path);

// A file that takes the place of one that others may read just now: it is written beside, and keeps its owner and mode;
// who holds the old one open keeps it whole. Where there is nothing to keep, or no place beside it, it is the file of
// this name.
class Replacement {
 public:
  static Result<Replacement> open(const std::string& path, const OutputFile& request);
  Replacement() = default;
  Replacement(Replacement&& other) noexcept;
  Replacement& operator=(Replacement&& other) noexcept;
  ~Replacement();  // without put_in_place(), the old one stays

  const Fd& old() const { return old_; }  // as it was opened; empty: it is file()
  Fd& file() { return file_; }
  bool is_beside() const { return !beside_.empty(); }
  Result<> put_in_place();

 private:
  bool begin_beside(const OutputFile& request);
  std::string path_;
  Fd directory_, old_, file_;
  std::string name_, beside_;  // in the directory; empty: not beside, or in place
};

// An empty directory, made when there is none: not one that another user left in a directory of all. Files are made in
// what is given, so that none of the names on the way counts any more.
Result<Fd> open_output_directory(const std::string& path);
Result<Fd> open_new_in(const Fd& directory, const std::string& name, const std::string& path_of_directory);

// Whose is this name, when another user has left it in a directory of all? Neither followed nor read by who takes
// orders from it.
std::optional<unsigned> left_by_another(const std::string& path);

// Removes a regular file of this user; leaves everything else.
void remove_own_file(const std::string& path);

// Is anything there under this name, be it a link that leads nowhere?
bool is_taken(const std::string& path);

}  // namespace penna
