// SPDX-License-Identifier: MIT
// Why penna record -p cannot attach to a process, in one sentence with its cause and what to do.
//
// Invariant: the process is only looked at, through /proc: it is never stopped, traced or written to.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/result.h"

namespace penna {

// What /proc says of a process.
// What /proc says of a process. All of it may be out of date a moment later: it decides which
// sentence the user reads, and nothing that attaching relies on.
struct ProcessFacts {
  pid_t pid = 0;
  pid_t leader = 0;  // of its threads; another one: the number is a thread's
  pid_t tracer = 0;  // 0: none
  char state = 0;    // 'R', 'S', 'D', 'T', 't', 'Z', 'X'
  bool kernel_thread = false;
  uid_t user = 0;                 // real
  bool other_rights = false;      // effective or saved user or group is another: setuid or setgid
  bool permitted = false;         // the kernel would let us trace it
  int ptrace_scope = 0;           // of Yama; 0 also where there is none
  int bits = 0;                   // 0: its program cannot be read
  bool filters_calls = false;     // seccomp
  bool may_read_filters = false;  // by which it is decided then
  bool is_static = false, is_musl = false;
  std::string why_not_alone;  // of a static one: alone_program.h
};

// Error: there is no such process, as a sentence.
Result<ProcessFacts> read_process_facts(pid_t pid);

// `self`, `user`: our own process and effective user. `by_breakpoints`: it shall get no agent.
// Empty: nothing stands against it. A function of its arguments alone, so that tests reach every
// refusal.
std::string attach_refusal(const ProcessFacts& process, pid_t self, uid_t user, bool by_breakpoints);

// Reads the facts and gives the refusal, or an empty string. Waits up to five seconds for a tracer
// of ours that passes, as while another recorder attaches; and refuses a process that a recorder
// has already.
std::string why_not_attached(pid_t pid, bool by_breakpoints);

}  // namespace penna
