// SPDX-License-Identifier: MIT
// See attach_refusal.h. References: proc(5); ptrace(2), "Ptrace access mode checking"; the kernel's Yama.rst.
#include "session/attach_refusal.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "base/command_line.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/in_proc.h"
#include "base/proc_stat.h"
#include "base/proc_status.h"
#include "breakpoint/uprobe_watch.h"
#include "reach/control/find_recorder.h"
#include "reach/inject/call_filters.h"
#include "reach/process/stop_thread.h"
#include "reach/process/stopped_process.h"
#include "reach/start/standalone_program.h"
#include "session/record_notes.h"
#include "symbols/elf/elf_facts.h"

namespace penna {
namespace {

std::istringstream field(const std::string& status, std::string_view name) {
  return std::istringstream(status_value(status, name));
}

// Real, effective, saved and file system id are the same. An unreadable line counts as that: `permitted` decides.
bool has_one(std::istringstream ids, uid_t* real) {
  uid_t other = 0;
  if (!(ids >> *real)) return true;
  while (ids >> other)
    if (other != *real) return false;
  return true;
}

// The 9th field of /proc/PID/stat.
bool is_kernel_thread(pid_t pid) {
  constexpr unsigned long kKthread = 0x00200000;  // PF_KTHREAD, linux/sched.h
  const auto stat = read_file(fmt::format("/proc/{}/stat", pid), 4096);
  if (!stat) return false;
  std::istringstream fields{std::string(stat_from_state(*stat))};
  std::string skipped;
  unsigned long flags = 0;
  for (int i = 3; i < 9; ++i) fields >> skipped;
  return fields >> flags && (flags & kKthread) != 0;
}

// Opening the memory takes the same check as PTRACE_ATTACH (PTRACE_MODE_ATTACH, including Yama), but has no effect on
// the process.
bool may_trace(pid_t pid) { return static_cast<bool>(Fd(::open(in_proc(pid, "mem").c_str(), O_RDWR | O_CLOEXEC))); }

// Yama's ptrace_scope, see Documentation/admin-guide/LSM/Yama.rst: 0 anything of the same user, 1 descendants, 2
// CAP_SYS_PTRACE, 3 nothing. Kernels without Yama have no such file.
int read_ptrace_scope() {
  const auto text = read_file("/proc/sys/kernel/yama/ptrace_scope", 64);
  return text ? std::atoi(text->c_str()) : 0;
}

std::string user_name(uid_t user) {
  const passwd* entry = ::getpwuid(user);
  return entry != nullptr ? entry->pw_name : fmt::format("number {}", user);
}

// The likeliest cause first: another user, setuid, Yama, and the rest. The kernel only says no.
std::string why_not_permitted(const ProcessFacts& process, uid_t user) {
  if (user != 0 && process.user != user)
    return fmt::format("belongs to user {}: run penna as that user, or as root", user_name(process.user));
  if (user != 0 && process.other_rights) return "runs with the rights of another user (setuid): run penna as root";
  switch (process.ptrace_scope) {
    case 1:
      return "may not be traced: /proc/sys/kernel/yama/ptrace_scope is 1; run penna as root, or allow it with: sudo "
             "sysctl kernel.yama.ptrace_scope=0";
    case 2: return "may not be traced: /proc/sys/kernel/yama/ptrace_scope is 2; run penna as root (CAP_SYS_PTRACE)";
    case 3: return "may not be traced by anybody: /proc/sys/kernel/yama/ptrace_scope is 3, until the next boot";
    default:
      return "may not be traced: it is not dumpable, or it is in a container that has more rights than "
             "penna; run penna as root, outside of containers";
  }
}

}  // namespace

// Without this file the process does not exist. All other facts keep their harmless defaults if they cannot be read.
Result<ProcessFacts> read_process_facts(pid_t pid) {
  const auto status = read_file(in_proc(pid, "status"), 64 << 10);
  if (!status) return Error{fmt::format("there is no process {}", pid)};
  ProcessFacts facts;
  facts.pid = pid;
  field(*status, "Tgid") >> facts.leader;
  field(*status, "TracerPid") >> facts.tracer;
  field(*status, "State") >> facts.state;
  facts.first_thread_ended = has_ended(pid, pid) && !has_ended(pid);
  int seccomp = 0;
  field(*status, "Seccomp") >> seccomp;
  facts.filters_calls = seccomp != 0;
  facts.may_read_filters = may_read_call_filters();
  uid_t group = 0;
  const bool one_user = has_one(field(*status, "Uid"), &facts.user), one_group = has_one(field(*status, "Gid"), &group);
  facts.other_rights = !one_user || !one_group;
  facts.kernel_thread = is_kernel_thread(pid);
  facts.permitted = may_trace(pid);
  facts.ptrace_scope = read_ptrace_scope();
  // Through /proc, not by path: the file may have been replaced or deleted since.
  if (const auto program = read_elf_facts(in_proc(pid, "exe")); program && program->is_elf) {
    facts.bits = program->bits;
    facts.is_static = program->is_static;
    if (facts.is_static) facts.why_no_standalone_agent = why_no_standalone_agent(program->path);
    facts.is_musl = is_of_musl(*program);
  }
  return facts;
}

// Why there is nothing to record, by whatever carrier.
static std::string watch_refusal(const ProcessFacts& process, pid_t self) {
  const auto sentence = [&](const std::string& rest) { return fmt::format("process {} {}", process.pid, rest); };
  if (process.leader != process.pid)
    return fmt::format("{} is a thread of process {}: use -p {}", process.pid, process.leader, process.leader);
  if (process.pid == self) return sentence("is this penna itself");
  if (process.kernel_thread) return sentence("is a kernel thread");
  if (process.state == 'Z' || process.state == 'X') return sentence("has ended: it is a zombie");
  return {};
}

// Ordered from cases that make the other facts meaningless (a thread's number, ourselves, a dead process) to those that
// could be worked around.
std::string attach_refusal(const ProcessFacts& process, pid_t self, uid_t user, bool by_breakpoints) {
  const auto sentence = [&](const std::string& rest) { return fmt::format("process {} {}", process.pid, rest); };
  if (const std::string refusal = watch_refusal(process, self); !refusal.empty()) return refusal;
  if (process.tracer != 0)
    return sentence(fmt::format("is already traced by process {}: end that tracer first", process.tracer));
  // Attaching would have to resume it, but its owner has stopped it.
  if (process.state == 'T')
    return sentence(fmt::format("is stopped: resume it first, with: kill -CONT {}", process.pid));
  if (!process.permitted) return sentence(why_not_permitted(process, user));
  if (process.bits == 32) return sentence("is a 32-bit program: Penna records 64-bit programs only");
  if (!by_breakpoints && process.is_static && !process.why_no_standalone_agent.empty())
    return sentence(fmt::format("is statically linked and {}, so it can have no agent: record it with --via breakpoint",
                                process.why_no_standalone_agent));
  if (!by_breakpoints && process.is_musl)
    return sentence("uses musl, so it can have no agent: record it with --via breakpoint");
  // A seccomp filter can kill a process for a system call that it would never make itself. reach/ reads what a filter
  // allows; here we only check whether it can be read.
  if (process.filters_calls && by_breakpoints)
    return sentence(
        "has a seccomp filter, which may kill it for a system call that breakpoints need: start it with penna "
        "record");
  if (process.filters_calls && !process.may_read_filters)
    return sentence(
        "has a seccomp filter, which may kill it for a system call that attaching needs, and only root may read it: "
        "run penna as root (CAP_SYS_ADMIN), outside of containers, or start the program with penna record");
  return {};
}

ObjectionAndRemedy split_remedy(const std::string& refusal) {
  const size_t remedy = refusal.rfind(": ");
  if (remedy == std::string::npos) return {refusal, ""};
  return {refusal.substr(0, remedy), refusal.substr(remedy + 2)};
}

std::string refusal_but_for_uprobes(ProcessFacts process, pid_t self, uid_t user, bool by_breakpoints) {
  const std::string refusal = attach_refusal(process, self, user, by_breakpoints);
  process.tracer = 0;
  process.filters_calls = false;
  const bool others = process.first_thread_ended || !attach_refusal(process, self, user, by_breakpoints).empty();
  return others ? "" : refusal;
}

// For a process that is being recorded, or is a recorder.
static std::string why_taken(pid_t pid) {
  const auto recorder = find_recorder(pid);
  if (!recorder || !is_recorder_at(recorder->control)) return {};
  if (recorder->asked_pid == 0) return fmt::format("process {} is a penna recorder", pid);
  return fmt::format("process {} is already being recorded: penna ctl {} changes what is recorded", pid, pid);
}

std::string why_not_watched(pid_t pid) {
  const auto process = read_process_facts(pid);
  if (!process) return process.error().text;
  std::string refusal = watch_refusal(*process, ::getpid());
  if (refusal.empty() && process->bits == 32)
    refusal = fmt::format("process {} is a 32-bit program: Penna records 64-bit programs only", pid);
  if (refusal.empty() && process->first_thread_ended)
    refusal = fmt::format("process {} {}: use another --via", pid, kNoFirstThread);
  if (refusal.empty() && !process->permitted)
    refusal = fmt::format("process {} {}", pid, why_not_permitted(*process, ::geteuid()));
  return !refusal.empty() ? refusal : why_taken(pid);
}

// Once a passing tracer of ours is gone.
static Result<ProcessFacts> settled_facts(pid_t pid) {
  // 5 ms each.
  constexpr int kTries = 1000;
  auto process = read_process_facts(pid);
  for (int i = 0; i < kTries && process && is_passing(process->tracer); ++i) {
    ::usleep(5000);
    process = read_process_facts(pid);
  }
  return process;
}

std::string why_left_to_uprobes(pid_t pid, bool by_breakpoints) {
  const auto process = settled_facts(pid);
  if (!process) return "";
  std::string refusal = refusal_but_for_uprobes(*process, ::getpid(), ::geteuid(), by_breakpoints);
  return refusal.empty() || !why_taken(pid).empty() ? "" : refusal;
}

std::string why_not_attached(pid_t pid, bool by_breakpoints) {
  const auto process = settled_facts(pid);
  if (!process) return process.error().text;
  const std::string refusal = attach_refusal(*process, ::getpid(), ::geteuid(), by_breakpoints);
  return !refusal.empty() ? refusal : why_taken(pid);
}

}  // namespace penna
