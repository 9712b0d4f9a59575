// SPDX-License-Identifier: MIT
// Why penna record -p cannot attach to a process, in one sentence with its cause and a remedy.
//
// Invariant: the process is only examined through /proc: it is never stopped, traced or written to.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"

namespace penna {

// Facts about a process from /proc. All of it may be out of date a moment later: it only decides which sentence the
// user reads; attaching does not rely on it.
struct ProcessFacts {
  pid_t pid = 0;
  pid_t leader = 0;                 // of its threads; another one: the number is a thread's
  pid_t tracer = 0;                 // 0: not traced
  char state = 0;                   // 'R', 'S', 'D', 'T', 't', 'Z', 'X'
  bool first_thread_ended = false;  // while others go on; then tracer and state are those of another one
  bool kernel_thread = false;
  uid_t user = 0;                 // real
  bool other_rights = false;      // effective or saved user or group differs: setuid or setgid
  bool permitted = false;         // the kernel would let us trace it
  int ptrace_scope = 0;           // Yama's; 0 also without Yama
  int bits = 0;                   // 0: its program cannot be read
  bool filters_calls = false;     // seccomp
  bool may_read_filters = false;  // the filter then decides
  bool is_static = false, is_musl = false;
  std::string why_no_standalone_agent;  // for a static program: standalone_program.h
};

// Error: there is no such process, as a sentence.
Result<ProcessFacts> read_process_facts(pid_t pid);

// `self`, `user`: our own process and effective user. `by_breakpoints`: it will not get an agent. Empty: no objection.
// Depends only on its arguments, so that tests reach every refusal.
std::string attach_refusal(const ProcessFacts& process, pid_t self, uid_t user, bool by_breakpoints);

// A refusal's last part, after ": ", is the remedy; some have none.
struct ObjectionAndRemedy {
  std::string objection, remedy;
};
ObjectionAndRemedy split_remedy(const std::string& refusal);

// The refusal, if it is only for a tracer or a seccomp filter, which do not matter to uprobes; else empty.
std::string refusal_but_for_uprobes(ProcessFacts process, pid_t self, uid_t user, bool by_breakpoints);

// Reads the facts and returns the refusal, or an empty string. Waits up to five seconds for a passing tracer of ours,
// such as another recorder that is attaching; and refuses a process that is being recorded already.
std::string why_not_attached(pid_t pid, bool by_breakpoints);
// That refusal, if uprobes can record the process in spite of it; else empty.
std::string why_left_to_uprobes(pid_t pid, bool by_breakpoints);
// Why uprobes cannot record it. Waits for nothing.
std::string why_not_watched(pid_t pid);

}  // namespace penna
