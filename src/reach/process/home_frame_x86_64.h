// SPDX-License-Identifier: MIT
// ReturnFrame: the frame on the stack of a thread that we redirect, by which it returns without us
// (penna/detail/remote.h).
//
// Why a signal frame: rt_sigreturn(2) restores all of a thread's state from it at once, and the thread can call that
// itself.
// Invariant: complete before the thread is redirected. Reference: arch/x86/include/uapi/asm/{ucontext,sigcontext}.h.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/remote_ptr.h"
#include "reach/process/arch.h"

namespace penna {

class ReturnFrame {
 public:
  // `vector`: NT_X86_XSTATE as PTRACE_GETREGSET returns it. `sleeps`: `general` is about to restart a system call whose
  // remaining time the kernel keeps.
  ReturnFrame(RemoteBytes stack_top, const GeneralRegisters& general, const std::vector<uint8_t>& vector,
              uint64_t signal_mask, bool sleeps);

  // False: the process has no memory there.
  bool write(pid_t thread) const;
  RemoteBytes context() const { return context_; }
  RemoteBytes stack_top() const { return context_ - kHead; }

 private:
  static constexpr int64_t kHead = 16;

  RemoteBytes context_;
  std::vector<uint8_t> bytes_;  // starting at stack_top()
};

}  // namespace penna
