// SPDX-License-Identifier: MIT
// Lets one thread of a running process execute a piece of code that lies there already, and puts everything back.
//
// Why: a process that runs must change itself (patch its points, say), and the agent has neither a thread nor a signal
// of its own there. Two stops and two resumes, some 0.2 ms in all; the other threads run on.
// Invariant: whatever happens, our end by SIGKILL included, the thread goes on with the registers, the signal mask and
// the system call that it had, and is not traced any more. Reference: ptrace(2), PTRACE_SEIZE and "syscall restarts".
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/remote_ptr.h"
#include "base/result.h"

namespace penna {

// Of code made by PENNA_REMOTE_CODE (penna/detail/remote.h), and its stack, which is empty.
struct RemoteCode {
  RemotePtr<const uint8_t> entry;
  RemotePtr<const uint8_t> end;
  RemoteBytes stack_top;
  // Of the file "memfd:penna-channel" that the process must have mapped; 0: none. The addresses may be a lie: in
  // another program, into which the process has turned meanwhile, they are not followed.
  ino_t channel = 0;
};

// Any thread that is not in an uninterruptible sleep will do; signals wait meanwhile. Errors (no permission, no such
// process, ended meanwhile, no thread stops within two seconds, the code faulted or did not end within five) leave the
// process as it was. Any thread of ours; blocks up to some seconds. Never takes the exit status of a child from whoever
// waits for it.
Result<> call_in(pid_t pid, const RemoteCode& code);

}  // namespace penna
