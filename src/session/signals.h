// SPDX-License-Identifier: MIT
// Signals: those that a recorder receives through a descriptor, from here on in this thread and all that it starts.
//
// Why: they must not end a recorder before the recording is closed. Invariant: a started program gets before(), the
// mask that we were started with.
#pragma once

#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

#include "base/fd.h"

namespace penna {

// Those that ask a recorder to end, or report a failed write.
inline sigset_t ending_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) ::sigaddset(&set, signal);
  return set;
}

// Blocks the signals in this thread and in all that it starts from here on; they queue in the descriptor. They are
// never unblocked.
class Signals {
 public:
  explicit Signals(const sigset_t& ours) {
    ::sigprocmask(SIG_BLOCK, &ours, &before_);
    fd_ = Fd(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  const sigset_t& before() const { return before_; }
  int fd() const { return fd_.get(); }
  // The next signal, or an empty one.
  signalfd_siginfo next() const {
    signalfd_siginfo info{};
    if (::read(fd_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) info = {};
    return info;
  }

 private:
  sigset_t before_{};
  Fd fd_;
};

}  // namespace penna
