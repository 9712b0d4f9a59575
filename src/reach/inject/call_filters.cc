// SPDX-License-Identifier: MIT
// See call_filters.h. References: ptrace(2), PTRACE_SECCOMP_GET_FILTER; seccomp(2).
#include "reach/inject/call_filters.h"

#include <fmt/core.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/proc_status.h"
#include "penna/detail/attach.h"
#include "reach/process/stop_thread.h"
#include "reach/process/stopped_process.h"
#include "seccomp/own_calls.h"

namespace penna {
namespace {

using Filter = std::vector<sock_filter>;

enum class Mode { kNone = 0, kStrict = 1, kFilter = 2 };

Mode mode_in(const std::string& value) { return static_cast<Mode>(std::atoi(value.c_str())); }
Mode mode_of(pid_t pid, pid_t thread) { return mode_in(read_status_value(pid, thread, "Seccomp")); }

constexpr const char* kUnreadable =
    "has a seccomp filter that penna may not read, and that may kill it for a system call that attaching needs: "
    "run penna as root (CAP_SYS_ADMIN), outside of containers, or start the program with penna record";

// Adds all filters of a stopped thread. False: they cannot be read. Index 0 is the filter installed last; ENOENT ends
// the list. Threads share inherited filters, so equal ones are judged once.
bool add_filters(pid_t thread, std::vector<Filter>* filters) {
  for (uint64_t i = 0;; ++i) {
    const auto get = [&](void* to) {
      return ::ptrace(static_cast<__ptrace_request>(PTRACE_SECCOMP_GET_FILTER), thread, i, to);
    };
    const long length = get(nullptr);
    if (length < 0) return errno == ENOENT;
    Filter filter(static_cast<size_t>(length));
    if (get(filter.data()) != length) return false;
    const auto is_same = [&](const Filter& one) {
      return one.size() == filter.size() &&
             std::equal(one.begin(), one.end(), filter.begin(), [](const sock_filter& a, const sock_filter& b) {
               return a.code == b.code && a.jt == b.jt && a.jf == b.jf && a.k == b.k;
             });
    };
    if (std::none_of(filters->begin(), filters->end(), is_same)) filters->push_back(std::move(filter));
  }
}

// Made by a borrowed thread, and by the guest until the agent is loaded (borrowed_thread.h, guest.h).
#define PENNA_GUEST_CALL(name, ...) \
  { SYS_##name, #name, 0, true, __VA_ARGS__ }
constexpr uint64_t kPrivateMemory = MAP_PRIVATE | MAP_ANONYMOUS, kPrivateFile = MAP_PRIVATE | MAP_DENYWRITE;
constexpr OwnCall kGuestCalls[] = {
    PENNA_GUEST_CALL(rt_sigreturn, {}),
    PENNA_GUEST_CALL(mmap, {0, kOwnBytes, PROT_READ | PROT_EXEC, kPrivateMemory}),
    PENNA_GUEST_CALL(mmap, {0, kOwnBytes, PROT_READ | PROT_WRITE, kPrivateMemory | MAP_NORESERVE}),
    PENNA_GUEST_CALL(mmap, {0, kOwnBytes, PROT_READ, kPrivateFile}),
    PENNA_GUEST_CALL(mmap, {0, kOwnBytes, PROT_READ | PROT_EXEC, kPrivateFile | MAP_FIXED}),
    PENNA_GUEST_CALL(mmap, {0, kOwnBytes, PROT_READ | PROT_WRITE, kPrivateFile | MAP_FIXED}),
    PENNA_GUEST_CALL(memfd_create, {0, MFD_CLOEXEC}),
    PENNA_GUEST_CALL(clone, {CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                             CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID}),
    PENNA_GUEST_CALL(prctl, {PR_SET_NAME}),
    PENNA_GUEST_CALL(openat, {static_cast<uint64_t>(AT_FDCWD), 0, O_RDONLY | O_CLOEXEC}),
    PENNA_GUEST_CALL(read, {kOwnDescriptor}),
    PENNA_GUEST_CALL(pread64, {kOwnDescriptor}),
    PENNA_GUEST_CALL(fstat, {kOwnDescriptor}),
    PENNA_GUEST_CALL(newfstatat, {kOwnDescriptor, 0, 0, 0x1000 /* AT_EMPTY_PATH */}),
    PENNA_GUEST_CALL(mprotect, {0, kOwnBytes, PROT_READ}),
    PENNA_GUEST_CALL(brk, {}),
    PENNA_GUEST_CALL(getrandom, {}),
    PENNA_GUEST_CALL(close, {kOwnDescriptor}),
    PENNA_GUEST_CALL(exit, {}),
};
// BorrowedThread::copy_process(), and the calls that process_copy.cc makes a thread perform at the end.
constexpr OwnCall kCopyCalls[] = {
    PENNA_GUEST_CALL(clone, {}),
    PENNA_GUEST_CALL(prctl, {PR_SET_PTRACER}),
    PENNA_GUEST_CALL(close_range, {0, ~0u}),
    PENNA_GUEST_CALL(select, {}),
    PENNA_GUEST_CALL(exit_group, {}),
    PENNA_GUEST_CALL(wait4, {kOwnDescriptor, 0, uint64_t{__WALL | WNOHANG}}),
};
#undef PENNA_GUEST_CALL

// Calls that the agent makes only when the program starts another one, and one that it can do without.
bool is_dispensable(const OwnCall& own) {
  constexpr int kOfStarts[] = {SYS_access, SYS_openat, SYS_fstat,  SYS_fstatfs, SYS_fgetxattr,    SYS_process_vm_readv,
                               SYS_prctl,  SYS_getuid, SYS_getgid, SYS_getegid, SYS_clock_gettime};
  return (own.without & (kRefusesStart | kRefusesRecording | kRefusesCode)) == 0 &&
         std::find(std::begin(kOfStarts), std::end(kOfStarts), own.number) != std::end(kOfStarts);
}

// The first call that is needed and refused; else null, adding to *refusals what will not be possible.
const char* needed_and_refused(const Filter& filter, uint64_t pc, bool copied, uint32_t* refusals) {
  const auto length = static_cast<uint32_t>(filter.size());
  for (const OwnCall& own : kCopyCalls)
    if (copied && refuses_call(filter.data(), length, own, pc)) return own.name;
  for (const OwnCall& own : kGuestCalls)
    if (refuses_call(filter.data(), length, own, pc)) return own.name;
  for (const OwnCall& own : kOwnCalls) {
    if (!refuses_call(filter.data(), length, own, pc)) continue;
    if (!is_dispensable(own)) return own.name;
    *refusals |= own.without;
  }
  return nullptr;
}

}  // namespace

bool may_read_call_filters() {
  constexpr int kSysAdmin = 21;  // CAP_SYS_ADMIN
  const uint64_t capabilities = std::strtoull(read_status_value("/proc/self", "CapEff").c_str(), nullptr, 16);
  return (capabilities >> kSysAdmin & 1) != 0 && mode_in(read_status_value("/proc/self", "Seccomp")) == Mode::kNone;
}

// Before Linux 5.9 only the mode is known.
uint32_t count_call_filters(pid_t pid, pid_t thread) {
  const std::string count = read_status_value(pid, thread, "Seccomp_filters");
  return count.empty() ? static_cast<uint32_t>(mode_of(pid, thread)) : static_cast<uint32_t>(std::atoi(count.c_str()));
}

uint32_t most_call_filters(pid_t pid) {
  uint32_t most = 0;
  for (const pid_t thread : threads_of(pid)) most = std::max(most, count_call_filters(pid, thread));
  return most;
}

Result<uint32_t> judge_call_filters(pid_t pid, uint64_t system_call, bool copied) {
  bool any = false;
  for (const pid_t thread : threads_of(pid)) {
    const Mode mode = mode_of(pid, thread);
    any = any || mode != Mode::kNone;
    if (mode == Mode::kStrict)
      return Error{
          "is in seccomp's strict mode, which allows only read, write and exit: start it "
          "with penna record"};
  }
  if (!any) return 0u;
  std::vector<Filter> filters;
  {
    auto process = StoppedProcess::stop(pid);
    if (!process) return Error{"cannot be stopped to read its seccomp filter: " + process.error().text};
    for (const StoppedThread& one : process->threads())
      if (mode_of(pid, one.id) != Mode::kNone && !add_filters(one.id, &filters)) return Error{kUnreadable};
  }
  // Judged after all threads run again: the filters are copies by now, and there may be many.
  uint32_t refusals = PENNA_CALLS_FILTERED;
  for (const Filter& filter : filters)
    if (const char* name = needed_and_refused(filter, system_call, copied, &refusals); name != nullptr)
      return Error{
          fmt::format("has a seccomp filter that refuses {}, which {} needs: start it with "
                      "penna record, or without the filter",
                      name, copied ? "a dry run" : "attaching")};
  return refusals;
}

}  // namespace penna
