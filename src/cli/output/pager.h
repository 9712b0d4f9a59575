// SPDX-License-Identifier: MIT
// Pager: a program that shows output page by page, $PAGER or less.
//
// Invariant: whether it runs, fails or is quit early changes neither the exit status nor, unless the reader wanted no
// more, the output.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/fd.h"

namespace penna {

// The command line for a shell; empty: no pager is wanted or available. Only on a terminal that can do more than print
// (TERM).
std::string pager_command(int fd);

// Started by the first text. From then on, the terminal's interrupt keys are for the pager.
class Pager {
 public:
  explicit Pager(std::string command) : command_(std::move(command)) {}
  Pager(Pager&&) = default;
  Pager& operator=(Pager&&) = default;

  // False: it has ended. After finish(), unread() shows whether the text was read.
  bool write(std::string_view text);
  // Waits for its end.
  void finish();
  // After its end: the text passed to it, if it could not run.
  const std::string& unread() const { return kept_; }

 private:
  static constexpr size_t kKept = 1 << 20;  // more than a pipe holds: a program that took more has run

  bool begin();

  std::string command_;
  Fd to_;
  pid_t pid_ = -1;
  bool begun_ = false, ended_ = false;
  std::string kept_;
  bool keeps_ = true;
};

}  // namespace penna
