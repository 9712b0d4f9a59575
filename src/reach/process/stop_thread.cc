// SPDX-License-Identifier: MIT
// See stop_thread.h.
#include "reach/process/stop_thread.h"

#include <fmt/core.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "base/directory.h"
#include "base/file.h"
#include "base/proc_stat.h"
#include "base/proc_status.h"

namespace penna {

char state_of(pid_t pid, pid_t thread) {
  const auto line = read_file(fmt::format("/proc/{}/task/{}/stat", pid, thread), 4096);
  const std::string_view fields = line ? stat_from_state(*line) : std::string_view();
  return fields.empty() ? 'X' : fields[0];
}

bool has_ended(pid_t pid, pid_t thread) {
  const char state = state_of(pid, thread);
  return state == 'Z' || state == 'X';
}

pid_t tracer_of(pid_t pid, pid_t thread) {
  return static_cast<pid_t>(std::strtol(read_status_value(pid, thread, "TracerPid").c_str(), nullptr, 10));
}

std::vector<pid_t> threads_of(pid_t pid) { return numbers_in(fmt::format("/proc/{}/task", pid)); }

bool has_ended(pid_t pid) {
  const std::vector<pid_t> threads = threads_of(pid);
  return std::all_of(threads.begin(), threads.end(), [pid](pid_t thread) { return has_ended(pid, thread); });
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  for (const pid_t thread : threads_of(pid)) {
    const auto text = read_file(fmt::format("/proc/{}/task/{}/children", pid, thread));
    std::istringstream numbers(text ? *text : std::string());
    for (pid_t child = 0; numbers >> child;) children.push_back(child);
  }
  return children;
}

bool share_memory(pid_t one, pid_t other) {
  constexpr int kMemory = 1;  // KCMP_VM
  return ::syscall(SYS_kcmp, one, other, kMemory, 0, 0) == 0;
}

uint32_t own_id(pid_t pid, pid_t thread) {
  const std::string ids = read_status_value(pid, thread, "NSpid");  // outermost namespace first
  return static_cast<uint32_t>(std::strtoul(ids.c_str() + ids.rfind('\t') + 1, nullptr, 10));
}

// waitid() without WEXITED: the exit status is for those who wait for it. A stop comes within microseconds if there is
// a processor for the thread, and other threads may stand still until then: so at first only our processor is passed
// on, because the shortest sleep takes 60 us and more.
Stop wait_for_stop(pid_t pid, pid_t thread, long patience_us) {
  constexpr long kPassOnUs = 1000, kLookUs = 50'000;
  constexpr timespec kPause{0, 50'000};
  const auto begin = std::chrono::steady_clock::now();
  for (long next_look_us = kLookUs;;) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(thread), &info, WSTOPPED | WNOHANG | __WALL | __WNOTHREAD) != 0) return {};
    if (info.si_pid == thread) return {info.si_status & 0xff, info.si_status >> 8};
    const long waited_us = static_cast<long>((std::chrono::steady_clock::now() - begin) / std::chrono::microseconds(1));
    if (waited_us >= patience_us) return {};
    // A zombie never stops, and its exit status is not ours to collect: without this check, we would use up all our
    // patience.
    if (waited_us >= next_look_us) {
      next_look_us += kLookUs;
      if (has_ended(pid, thread)) return {};
    }
    if (waited_us < kPassOnUs)
      ::sched_yield();
    else
      ::nanosleep(&kPause, nullptr);
  }
}

bool go_on_after(pid_t pid, const Stop& stop) {
  if (stop.event == PTRACE_EVENT_STOP && stop.signal != SIGTRAP) return traced(PTRACE_LISTEN, pid, 0, 0);
  return traced(PTRACE_CONT, pid, 0, stop.event == 0 ? static_cast<uint64_t>(stop.signal) : 0);
}

bool await_interrupt(pid_t pid, pid_t thread, long patience_us) {
  for (;;) {
    const Stop stop = wait_for_stop(pid, thread, patience_us);
    if (stop.signal == 0 || stop.event == PTRACE_EVENT_EXEC) return false;
    if (stop.event == PTRACE_EVENT_STOP) return true;
    // A signal that came first is delivered; our interrupt is still pending, and stops it right after.
    if (!traced(PTRACE_CONT, thread, 0, stop.event == 0 ? static_cast<uint64_t>(stop.signal) : 0)) return false;
  }
}

}  // namespace penna
