// SPDX-License-Identifier: MIT
// TrapAction: a process's own handler for SIGTRAP, saved from the kernel.
//
// Why: int3 raises SIGTRAP in the thread. If the thread blocks it, the kernel replaces the process's handler by the
// default action and unblocks the signal, before we see the stop (kernel/signal.c, force_sig_info_to_task()). The
// program's own traps would then kill it. A process that ignores SIGTRAP gets the default action, too; that stays, as
// it makes no difference to traps, which nobody can ignore.
// Several threads may have hit breakpoints before we see the first: whose hit took the handler away shows only their
// masks, if they had blocked everything. In doubt, a mask stays as it is: then a thread's own traps reach the handler.
// Invariant: after keep(), the handler is the one that the process had when it was last looked at: at the last
// breakpoint that was hit at least kLook (a first one) or kLookAgain (another one) after the one before. Used by the
// thread that traces it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "reach/process/remote_memory.h"

namespace penna {

class TrapAction {
 public:
  // A stopped thread; at `instruction` is one that makes a system call.
  struct Caller {
    pid_t thread;
    uint64_t instruction;
    const RemoteMemory& memory;
  };
  // Finds out what the handler is.
  void look(const Caller& caller);
  // The thread has hit a breakpoint. If that took the handler away, it is restored, and the signal is blocked again.
  // `is_sole`: stops all other threads, and says whether none of them has hit one, too.
  void keep(const Caller& caller, const std::function<bool()>& is_sole);
  // Then breakpoints may take it away at any time.
  bool has_handler() const { return action_.has_value(); }
  // Whether it is in place, as the kernel says.
  static bool is_in_place(pid_t thread);
  // Puts it back, if it is not in place: before a trap of the program's own is delivered, or in a forked process, where
  // other threads' hits have taken it away.
  void restore(const Caller& caller);

 private:
  static constexpr std::chrono::milliseconds kLook{1}, kLookAgain{100};

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
  static bool exchange(const Caller& caller, Action& action, bool sets);

  std::optional<Action> action_;  // empty: it has no handler
  std::chrono::steady_clock::time_point looked_at_{};
};

}  // namespace penna
