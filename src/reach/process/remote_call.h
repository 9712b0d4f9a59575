// SPDX-License-Identifier: MIT
// Makes one thread of a running process execute code that is already there, and restores everything.
//
// Why: a running process must change itself (patch its points, for example), and the agent has neither a thread nor a
// signal of its own there. Two stops and two resumes, about 0.2 ms in all; the other threads keep running.
// Invariant: whatever happens, even if we are killed by SIGKILL, the thread continues with its registers, signal mask
// and system call, and is no longer traced. Reference: ptrace(2), PTRACE_SEIZE and "syscall restarts".
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/remote_ptr.h"
#include "base/result.h"

namespace penna {

// Code made by PENNA_REMOTE_CODE (penna/detail/remote.h), and its stack, which is empty.
struct RemoteCode {
  CodePtr entry;
  CodePtr end;
  RemoteBytes stack_top;
  // The inode of "memfd:penna-channel", which the process must have mapped; 0: do not check. The addresses may be
  // wrong: if the process has become another program meanwhile, they are not used.
  ino_t channel = 0;
  // Where a system call that the stop has cut is finished (cut_call_x86_64.h); null: before `entry`. Where the agent is
  // to leave, it must not be the agent's code.
  CodePtr finisher = {};
};

// Any thread that is not in an uninterruptible sleep will do; signals are blocked meanwhile. On error the process is
// unchanged: no permission, no such process, it ended, no thread stopped within two seconds, the code faulted or did
// not finish within five. May be called from any thread; blocks for up to some seconds. Never takes a child's exit
// status from its waiting parent.
Result<> call_in(pid_t pid, const RemoteCode& code);

}  // namespace penna
