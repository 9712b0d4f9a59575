// SPDX-License-Identifier: MIT
// Viewer: runs penna view in a separate process, on the recording in progress (penna record --view).
//
// Why a process: it reads the file like any other reader, and whatever happens to it, the recording and the program go
// on.
// Invariant: it has a lower priority than the program; Ctrl-C in the terminal does not reach it; it ends with us.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/result.h"

namespace penna {

class Viewer {
 public:
  // `mask`: the signal mask that we were started with. Prints the address and errors to standard error. Call from a
  // thread that lives as long as this process.
  static Result<Viewer> start(const std::string& recording, bool no_open, const sigset_t& mask);
  Viewer(Viewer&& other) noexcept : pid_(std::exchange(other.pid_, 0)), pidfd_(std::move(other.pidfd_)) {}
  Viewer& operator=(Viewer&&) = delete;
  ~Viewer() { end(); }

  int pidfd() const { return pidfd_.get(); }
  bool is_running() const;
  void end();

 private:
  Viewer(pid_t pid, Fd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}

  pid_t pid_;  // 0: it has been waited for
  Fd pidfd_;
};

}  // namespace penna
