// SPDX-License-Identifier: MIT
// See remote_call.h. The steps, in call_in_thread() at the end: seize, interrupt, save, run, restore, detach.
#include "reach/process/remote_call.h"

#include <fmt/core.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/mapped_memory.h"
#include "reach/process/cut_call_x86_64.h"
#include "reach/process/stop_thread.h"
#include "reach/process/thread_state.h"

namespace penna {
namespace {

constexpr long kPatienceUs = 2'000'000;
constexpr long kLongestUs = 5'000'000;  // the code takes milliseconds; a hostile process may delay us
constexpr long kLongestPauseUs = 2000;  // the longest pause between two checks

bool can_stop(char state) { return state != 'D' && state != 'Z' && state != 'X'; }

// A thread that can be stopped, the main one if possible, and one that no stop cuts short; 0 if there is none.
pid_t choose_thread(pid_t pid) {
  const auto is_fit = [pid](pid_t thread) { return can_stop(state_of(pid, thread)) && !may_be_cut(pid, thread); };
  if (is_fit(pid)) return pid;
  const std::vector<pid_t> threads = threads_of(pid);
  auto chosen = std::find_if(threads.begin(), threads.end(), is_fit);
  if (chosen == threads.end())
    chosen = std::find_if(threads.begin(), threads.end(), [pid](pid_t one) { return can_stop(state_of(pid, one)); });
  return chosen == threads.end() ? 0 : *chosen;
}

enum class Ran { kWhole, kHome, kFaulted, kTooLong, kGone };

// It has stopped again where it was before. If we did not stop it, it gets the signal.
Ran let_go_at_home(pid_t thread, const RemoteCode& code, const Stop& stop) {
  ThreadState now;
  now.finish_calls_at(code.finisher);
  if (stop.event == PTRACE_EVENT_STOP && now.save(thread)) now.restore(thread);
  traced(PTRACE_DETACH, thread, 0, stop.event == 0 ? static_cast<uint64_t>(stop.signal) : 0);
  return Ran::kHome;
}

// Polls, at growing intervals, whether the thread has reached the end of the code, where it waits to be restored: so a
// sleep continues, which the thread's own return path would restart. It is also restored if it takes too long.
// Why polling instead of a breakpoint: that raises SIGTRAP, which belongs to the program; if it is blocked, the kernel
// resets its handler, and an earlier fault's signal may be delivered first.
Ran run(pid_t pid, pid_t thread, const RemoteCode& code, const ThreadState& saved) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(kLongestUs);
  for (long pause_us = 50;; pause_us = std::min(2 * pause_us, kLongestPauseUs)) {
    if (!traced(PTRACE_CONT, thread, 0, 0)) return Ran::kGone;
    Stop stop = wait_for_stop(pid, thread, pause_us);
    // Only if it runs: interrupting a thread that has stopped by itself would stop it again before it has made a step.
    if (stop.signal == 0 && traced(PTRACE_INTERRUPT, thread, 0, 0)) stop = wait_for_stop(pid, thread, kLongestUs);
    if (stop.signal == 0) return Ran::kGone;
    if (stop.event == PTRACE_EVENT_EXEC) return Ran::kGone;  // another program, which must not get the saved registers
    if (saved.has_returned(thread)) return let_go_at_home(thread, code, stop);
    if (stop.event != PTRACE_EVENT_STOP) return Ran::kFaulted;  // all signals except those of faults are blocked
    if (ThreadState::is_at_end(thread, code)) return Ran::kWhole;
    if (std::chrono::steady_clock::now() > end) return Ran::kTooLong;
  }
}

// Empty: the thread is still returning from an earlier call; try again later.
std::optional<Result<>> call_in_thread(pid_t pid, RemoteCode code) {
  const pid_t thread = choose_thread(pid);
  if (thread == 0) return Error{fmt::format("process {} has no thread that can be stopped now", pid)};
  if (!traced(PTRACE_SEIZE, thread, 0, PTRACE_O_TRACEEXEC))
    return Error{fmt::format("may not stop process {}: {}; same user, and see /proc/sys/kernel/yama/ptrace_scope", pid,
                             errno_text(errno))};
  // From here on it is released when our thread ends, wherever that happens.
  if (!traced(PTRACE_INTERRUPT, thread, 0, 0) || !await_interrupt(pid, thread, kPatienceUs))
    return Error{fmt::format("process {} ended or did not stop", pid)};
  // Checked while it is stopped; and only a process that was given the channel can have it mapped.
  if (code.channel != 0 && !has_mapped(static_cast<uint32_t>(pid), "penna-channel", code.channel)) {
    traced(PTRACE_DETACH, thread, 0, 0);
    return Error{fmt::format("process {} has become another program", pid)};
  }
  ThreadState saved;
  if (!saved.save(thread)) {
    traced(PTRACE_DETACH, thread, 0, 0);
    return Error{fmt::format("process {} is not a 64-bit one, or its registers cannot be read", pid)};
  }
  if (!code.finisher) code.finisher = finishing_code_before(thread, code.entry);
  saved.finish_calls_at(code.finisher);
  if (saved.is_away(code)) {
    traced(PTRACE_DETACH, thread, 0, 0);
    return std::nullopt;
  }
  const Ran ran = saved.redirect(thread, code) ? run(pid, thread, code, saved) : Ran::kGone;
  if (ran == Ran::kHome) return ok();
  const bool restored = ran != Ran::kGone && saved.restore(thread);
  traced(PTRACE_DETACH, thread, 0, 0);
  if (ran == Ran::kTooLong) return Error{fmt::format("the code run in process {} did not return", pid)};
  if (ran == Ran::kFaulted) return Error{fmt::format("the code run in process {} did not return as expected", pid)};
  if (ran == Ran::kGone || !restored) return Error{fmt::format("process {} ended meanwhile", pid)};
  return ok();
}

}  // namespace

Result<> call_in(pid_t pid, const RemoteCode& code) {
  for (long waited_us = 0; waited_us < kPatienceUs; waited_us += kLongestPauseUs) {
    std::optional<Result<>> result;
    // A separate thread: all its tracees are released when it ends.
    std::thread([&] { result = call_in_thread(pid, code); }).join();
    if (result) return *result;
    ::usleep(kLongestPauseUs);
  }
  return Error{fmt::format("process {} is still busy with an earlier request; try again", pid)};
}

}  // namespace penna
