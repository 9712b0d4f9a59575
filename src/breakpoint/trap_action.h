// SPDX-License-Identifier: MIT
// TrapAction: a process's own handler for SIGTRAP, saved from the kernel.
//
// Why: int3 raises SIGTRAP in the thread. If the thread blocks it, the kernel replaces the process's handler by the
// default action and unblocks the signal, before we see the stop (kernel/signal.c, force_sig_info_to_task()). The
// program's own traps would then kill it. A process that ignores SIGTRAP gets the default action, too; that stays, as
// it makes no difference to traps, which nobody can ignore.
// Invariant: after keep(), the handler is the one that the process had when it was last looked at, at most kLookAgain
// breakpoints ago. Used by the thread that traces it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "reach/remote_memory.h"

namespace penna {

class TrapAction {
 public:
  // The thread is stopped; at `instruction` is one that makes a system call. Finds out what the handler is.
  void look(pid_t thread, uint64_t instruction, const RemoteMemory& memory);
  // The thread has hit a breakpoint. If that took the handler away, it is restored, and the signal is blocked again.
  void keep(pid_t thread, uint64_t instruction, const RemoteMemory& memory);

 private:
  static constexpr uint32_t kLookAgain = 256;

  // As rt_sigaction(2) has it.
  //
  //    0         8         16          24        32
  //   ┌─────────┬─────────┬───────────┬─────────┐
  //   │ handler │  flags  │ restorer  │  mask   │
  //   └─────────┴─────────┴───────────┴─────────┘
  struct Action {
    uint64_t handler, flags, restorer, mask;
  };
  static_assert(sizeof(Action) == 32);

  // Calls rt_sigaction with `action` as its second or third argument. False: not possible.
  static bool exchange(pid_t thread, uint64_t instruction, const RemoteMemory& memory, Action& action, bool sets);

  std::optional<Action> action_;  // empty: it has no handler
  uint32_t hits_ = 0;
};

}  // namespace penna
