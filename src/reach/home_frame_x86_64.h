// SPDX-License-Identifier: MIT
// HomeFrame: what lies on the stack of a thread that we lead elsewhere, so that it finds back without us
// (penna/detail/remote.h).
//
// Why a signal's frame: the kernel puts all of a thread's state back from it at once, rt_sigreturn(2), which the thread
// calls itself.
// Invariant: whole before the thread goes anywhere. Reference: arch/x86/include/uapi/asm/{ucontext,sigcontext}.h.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/remote_ptr.h"
#include "reach/arch.h"

namespace penna {

class HomeFrame {
 public:
  // `vector`: as PTRACE_GETREGSET gives NT_X86_XSTATE. `sleeps`: `general` is about to
  // make a system call, of which the kernel remembers the rest.
  HomeFrame(RemoteBytes stack_top, const GeneralRegisters& general, const std::vector<uint8_t>& vector,
            uint64_t signal_mask, bool sleeps);

  // False: the process has no memory there.
  bool write(pid_t thread) const;
  RemoteBytes context() const { return context_; }
  RemoteBytes stack_top() const { return context_ - kHead; }

 private:
  static constexpr int64_t kHead = 16;

  RemoteBytes context_;
  std::vector<uint8_t> bytes_;  // from stack_top() on
};

}  // namespace penna
