// SPDX-License-Identifier: MIT
// See stopped_process.h.
#include "reach/stopped_process.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/command_line.h"
#include "base/file.h"
#include "reach/stop_thread.h"

namespace penna {
namespace {

constexpr long kStopPatienceUs = 2'000'000;
constexpr useconds_t kTryUs = 2000;

// Who traces it; 0: nobody.
pid_t tracer_of(pid_t pid, pid_t thread) {
  const auto status = read_file(fmt::format("/proc/{}/task/{}/status", pid, thread), 64 << 10);
  const size_t at = status ? status->find("TracerPid:\t") : std::string::npos;
  return at == std::string::npos ? 0 : static_cast<pid_t>(std::strtol(status->c_str() + at + 11, nullptr, 10));
}

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
  constexpr int kTries = 1000;          // somebody stops it for a moment
  constexpr int kTriesOfOurs = 15'000;  // of many threads, on a busy machine
  bool is_traced = false;
  Result<StoppedProcess> process = try_to_stop(pid, &is_traced);
  for (int i = 0; !process && is_traced && (i < kTries || (i < kTriesOfOurs && is_passing(tracer_of(pid, pid)))); ++i) {
    ::usleep(kTryUs);
    process = try_to_stop(pid, &is_traced);
  }
  return process;
}

// Until there is none that we do not have: those that are stopped start no others.
Result<StoppedProcess> StoppedProcess::try_to_stop(pid_t pid, bool* is_traced) {
  *is_traced = false;
  StoppedProcess process;
  for (bool any_new = true; any_new;) {
    any_new = false;
    const size_t before = process.threads_.size();
    for (const pid_t thread : threads_of(pid)) {
      const bool is_known = std::any_of(process.threads_.begin(), process.threads_.end(),
                                        [&](const StoppedThread& one) { return one.id == thread; });
      if (is_known || state_of(pid, thread) == 'Z') continue;
      if (!traced(PTRACE_SEIZE, thread, 0, PTRACE_O_TRACEEXEC)) {
        const int cause = errno;
        // EPERM is also what the kernel says of a thread that is exiting, or has a tracer: /proc tells them apart.
        if (cause == ESRCH || state_of(pid, thread) == 'X' || state_of(pid, thread) == 'Z') continue;
        *is_traced = cause == EPERM;  // also where it was let go just now
        return why_not(pid, thread, cause);
      }
      process.threads_.push_back({thread, {}});
      traced(PTRACE_INTERRUPT, thread, 0, 0);
      any_new = true;
    }
    for (size_t i = before; i < process.threads_.size(); ++i) {
      StoppedThread& one = process.threads_[i];
      if (await_interrupt(pid, one.id, kStopPatienceUs) && one.state.save_registers(one.id)) continue;
      const char state = state_of(pid, one.id);
      if (state != 'X' && state != 'Z')
        return Error{fmt::format("thread {} of process {} cannot be stopped now{}", one.id, pid,
                                 state == 'D' ? ": it waits in the kernel, as for a child of vfork" : "")};
      one.id = 0;
    }
    std::erase_if(process.threads_, [](const StoppedThread& one) { return one.id == 0; });
  }
  if (process.threads_.empty()) return Error{fmt::format("process {} has ended", pid)};
  return process;
}

void StoppedProcess::let_go() {
  for (StoppedThread& one : threads_) one.state.undo_stop(one.id);
  for (const StoppedThread& one : threads_) traced(PTRACE_DETACH, one.id, 0, 0);
  threads_.clear();
}

}  // namespace penna
