// SPDX-License-Identifier: MIT
// Files that Penna makes, replaces or removes, also where other users may have been first (/tmp).
//
// Why: open(O_CREAT) writes through any link, and what the kernel has against it (protected_symlinks, protected_regular,
// protected_fifos, protected_hardlinks) is off on many machines; so its rules are kept here, for every part of a path.
// Invariant: what another user left in a directory of all is neither followed nor written; nothing is emptied before it is
// known to be ours to empty.
#pragma once

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
Result<Fd> open_output(const std::string& path, const OutputFile& wish);
Result<> empty_file(const Fd& file, const std::string& path);

// Removes a regular file of this user; leaves everything else.
void remove_own_file(const std::string& path);

// Is anything there under this name, be it a link that leads nowhere?
bool is_taken(const std::string& path);

}  // namespace penna
