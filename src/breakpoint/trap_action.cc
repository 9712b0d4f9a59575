// SPDX-License-Identifier: MIT
// See trap_action.h. Reference: rt_sigaction in sigaction(2), "C library/kernel differences"; proc(5), SigCgt.
#include "breakpoint/trap_action.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "base/proc_status.h"
#include "breakpoint/registers_x86_64.h"
#include "reach/process/traced.h"

namespace penna {
namespace {

constexpr uint64_t kDefault = 0;  // SIG_DFL

// What a thread blocks that had blocked all signals before a breakpoint unblocked SIGTRAP. The C library keeps its own
// two, 32 and 33, out of what a program blocks, and nobody can block SIGKILL and SIGSTOP.
bool had_blocked_all(uint64_t blocked) {
  constexpr uint64_t kNeverMind = kTrapSignal | uint64_t{1} << (SIGKILL - 1) | uint64_t{1} << (SIGSTOP - 1) |
                                  uint64_t{1} << (32 - 1) | uint64_t{1} << (33 - 1);
  return (blocked | kNeverMind) == kAllSignals;
}

}  // namespace

bool TrapAction::is_in_place(pid_t thread) {
  const std::string caught = read_status_value(thread, thread, "SigCgt");
  return (std::strtoull(caught.c_str(), nullptr, 16) & kTrapSignal) != 0;
}

// The kernel copies the action from and to a page that exists only meanwhile: no memory of the program's is free for
// certain.
bool TrapAction::exchange(const Caller& caller, Action& action, bool sets) {
  const auto& [thread, instruction, memory] = caller;
  constexpr uint64_t kAccess = PROT_READ | PROT_WRITE, kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
  const auto page =
      make_system_call(thread, instruction, SYS_mmap, {0, sizeof action, kAccess, kFlags, ~uint64_t{0}, 0});
  if (!page || *page <= 0) return false;
  const RemotePtr<Action> at(static_cast<uint64_t>(*page));
  bool done = !sets || memory.write(at, action);
  if (done)
    done = make_system_call(thread, instruction, SYS_rt_sigaction,
                            {SIGTRAP, sets ? at.number() : 0, sets ? 0 : at.number(), sizeof action.mask, 0, 0}) == 0;
  done = done && (sets || memory.read(at, {&action, 1}));
  make_system_call(thread, instruction, SYS_munmap, {at.number(), sizeof action, 0, 0, 0, 0});
  return done;
}

void TrapAction::look(const Caller& caller) {
  looked_at_ = std::chrono::steady_clock::now();
  Action now{};
  // It may be gone meanwhile, if another thread has hit a breakpoint: that says nothing.
  if (is_in_place(caller.thread) && exchange(caller, now, false) && now.handler != kDefault) action_ = now;
}

void TrapAction::keep(const Caller& caller, const std::function<bool()>& is_sole) {
  const bool looks = std::chrono::steady_clock::now() - looked_at_ >= (action_ ? kLookAgain : kLook);
  const auto blocked = action_ ? blocked_signals(caller.thread) : std::nullopt;
  const bool is_lost = blocked && !is_in_place(caller.thread);
  // A thread that blocks SIGTRAP blocks others, too, and those it still does. So the program has removed its handler,
  // or another thread's hit has, which comes next.
  if (is_lost && *blocked == 0) {
    if (is_sole()) action_.reset();
    return;
  }
  if (blocked && (had_blocked_all(*blocked) || (is_lost && is_sole())))
    block_signals(caller.thread, *blocked | kTrapSignal);
  if (is_lost)
    exchange(caller, *action_, true);
  else if (looks)
    look(caller);
}

void TrapAction::restore(const Caller& caller) {
  if (action_ && !is_in_place(caller.thread)) exchange(caller, *action_, true);
}

}  // namespace penna
