// SPDX-License-Identifier: MIT
// See stopped_process.h.
#include "reach/process/stopped_process.h"

#include <fmt/core.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/command_line.h"
#include "base/file.h"
#include "reach/process/stop_thread.h"

namespace penna {
namespace {

constexpr long kStopPatienceUs = 2'000'000;
constexpr useconds_t kTryUs = 2000;

Error why_not(pid_t pid, pid_t thread, int cause) {
  if (const pid_t tracer = tracer_of(pid, thread); tracer != 0)
    return Error{fmt::format("process {} is traced by process {}: end that tracer first", pid, tracer)};
  return Error{fmt::format("may not stop process {}: {}; same user, and see /proc/sys/kernel/yama/ptrace_scope", pid,
                           errno_text(cause))};
}

}  // namespace

bool is_passing(pid_t tracer) {
  if (tracer == 0) return false;
  const std::string name = comm_of(static_cast<uint32_t>(tracer));
  return name.empty() || name == "penna-surgeon" || name == "penna-guardian" || name == "penna";
}

Result<StoppedProcess> StoppedProcess::stop(pid_t pid) {
  constexpr int kTries = 1000;          // something stops it for a moment
  constexpr int kTriesOfOurs = 15'000;  // of many threads, on a busy machine
  bool is_traced = false;
  Result<StoppedProcess> process = try_to_stop(pid, &is_traced);
  for (int i = 0; !process && is_traced && (i < kTries || (i < kTriesOfOurs && is_passing(tracer_of(pid, pid)))); ++i) {
    ::usleep(kTryUs);
    process = try_to_stop(pid, &is_traced);
  }
  return process;
}

// Repeats until there is no new thread: stopped threads start no others. All of them are seized first, which does not
// stop them, then interrupted, then awaited: each is stopped only for as long as the others need to stop.
Result<StoppedProcess> StoppedProcess::try_to_stop(pid_t pid, bool* is_traced) {
  *is_traced = false;
  StoppedProcess process;
  for (size_t before = 0;; before = process.threads_.size()) {
    std::optional<Error> trouble = process.seize_new(pid, is_traced);
    if (before == 0) process.since_ = std::chrono::steady_clock::now();
    for (size_t i = before; i < process.threads_.size(); ++i) traced(PTRACE_INTERRUPT, process.threads_[i].id, 0, 0);
    // Even after trouble: only a stopped thread can be released.
    for (size_t i = before; i < process.threads_.size(); ++i)
      if (std::optional<Error> why = process.await(pid, &process.threads_[i]); why && !trouble) trouble = why;
    std::erase_if(process.threads_, [](const StoppedThread& one) { return one.id == 0; });
    if (trouble) return *trouble;
    if (process.threads_.size() == before) break;
  }
  if (process.threads_.empty()) return Error{fmt::format("process {} has ended", pid)};
  return process;
}

// Seizes the threads that are not in threads_ yet.
std::optional<Error> StoppedProcess::seize_new(pid_t pid, bool* is_traced) {
  const auto is_known = [&](pid_t thread) {
    return std::any_of(threads_.begin(), threads_.end(), [&](const StoppedThread& one) { return one.id == thread; });
  };
  for (const pid_t thread : threads_of(pid)) {
    if (is_known(thread)) continue;
    if (!traced(PTRACE_SEIZE, thread, 0, PTRACE_O_TRACEEXEC)) {
      const int cause = errno;
      // EPERM is also the kernel's answer for a thread that is exiting, or has a tracer: /proc distinguishes them.
      if (cause == ESRCH || has_ended(pid, thread)) continue;
      // It is already ours if it could not be stopped the last time.
      if (tracer_of(pid, thread) != static_cast<pid_t>(::syscall(SYS_gettid))) {
        *is_traced = cause == EPERM;  // even if it was released just now
        return why_not(pid, thread, cause);
      }
    }
    threads_.push_back({thread, {}});
  }
  return {};
}

// For a thread that was interrupted. A thread that is gone gets id 0.
std::optional<Error> StoppedProcess::await(pid_t pid, StoppedThread* one) {
  if (await_interrupt(pid, one->id, kStopPatienceUs) && one->state.save_registers(one->id)) return {};
  const char state = state_of(pid, std::exchange(one->id, 0));
  if (state == 'X' || state == 'Z') return {};
  return Error{fmt::format("a thread of process {} cannot be stopped now{}", pid,
                           state == 'D' ? ": it waits in the kernel, as for a child of vfork" : "")};
}

void StoppedProcess::let_go() {
  for (StoppedThread& one : threads_) one.state.undo_stop(one.id);
  for (const StoppedThread& one : threads_) traced(PTRACE_DETACH, one.id, 0, 0);
  threads_.clear();
}

}  // namespace penna
