// SPDX-License-Identifier: MIT
// SignalBlock: blocks signals for the length of a scope.
//
// Why: a handler need not return. It may leave by siglongjmp, and asynchronous cancellation never returns. Anything
// being handed from one owner to the next would then have no owner, and a thread that waits for it would wait forever.
// Invariant: the mask is restored. Signals for the thread's own faults stay unblocked: if blocked, they would kill the
// process at once.
#pragma once

#include <signal.h>
#include <stdint.h>

#include "agent/core/sys.h"

namespace penna::agent {

class SignalBlock {
 public:
  SignalBlock() { close(); }
  ~SignalBlock() { open(); }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

  // Unblocks signals for a moment; a handler that runs here may not return.
  void open() { sys(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&before_), 0, sizeof before_); }
  void close() {
    sys(SYS_rt_sigprocmask, SIG_BLOCK, reinterpret_cast<long>(&kAll), reinterpret_cast<long>(&before_), sizeof before_);
  }

 private:
  static constexpr uint64_t kOwnFaults = uint64_t{1} << (SIGSEGV - 1) | uint64_t{1} << (SIGBUS - 1) |
                                         uint64_t{1} << (SIGILL - 1) | uint64_t{1} << (SIGFPE - 1) |
                                         uint64_t{1} << (SIGTRAP - 1) | uint64_t{1} << (SIGSYS - 1);
  static constexpr uint64_t kAll = ~kOwnFaults;
  uint64_t before_;  // in the kernel's format
};

}  // namespace penna::agent
