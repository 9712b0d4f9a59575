// SPDX-License-Identifier: MIT
// SignalBlock: signals wait for as long as it lives.
//
// Why: a handler need not return. It may leave by siglongjmp, and an asynchronous cancellation leaves for good. What
// was in the middle of being handed from one owner to the next then belongs to nobody, and whoever waits for it waits
// for ever.
// Invariant: the mask is again what it was. Signals by which a thread is told of its own faults stay open: blocked,
// they would kill at once.
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

  // In between: signals come, and may not return.
  void open() { sys(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&before_), 0, sizeof before_); }
  void close() {
    sys(SYS_rt_sigprocmask, SIG_BLOCK, reinterpret_cast<long>(&kAll), reinterpret_cast<long>(&before_), sizeof before_);
  }

 private:
  static constexpr uint64_t kOwnFaults = uint64_t{1} << (SIGSEGV - 1) | uint64_t{1} << (SIGBUS - 1) |
                                         uint64_t{1} << (SIGILL - 1) | uint64_t{1} << (SIGFPE - 1) |
                                         uint64_t{1} << (SIGTRAP - 1) | uint64_t{1} << (SIGSYS - 1);
  static constexpr uint64_t kAll = ~kOwnFaults;
  uint64_t before_;  // as the kernel has masks
};

}  // namespace penna::agent
