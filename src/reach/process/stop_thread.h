// SPDX-License-Identifier: MIT
// Stops one thread of another process, and waits for what stops it. Must run on our thread that traces it.
//
// Invariant: exit statuses are left to their parents; signals that arrive on the way are delivered.
#pragma once

#include <sys/types.h>

#include <vector>

#include "reach/process/traced.h"

namespace penna {

// "S" of /proc/PID/stat; 'X' if the thread is gone.
char state_of(pid_t pid, pid_t thread);
// Gone, or a zombie.
bool has_ended(pid_t pid, pid_t thread);
bool has_ended(pid_t pid);  // all of its threads; its first one may end before the others

// Its tracer; 0: none, or it is gone.
pid_t tracer_of(pid_t pid, pid_t thread);

// The process's current threads.
std::vector<pid_t> threads_of(pid_t pid);
// Processes started by any of its threads that still run.
std::vector<pid_t> children_of(pid_t pid);
// After clone(CLONE_VM) without CLONE_THREAD, as in vfork and posix_spawn.
bool share_memory(pid_t one, pid_t other);

// The id by which the process knows its thread: that in its own PID namespace. 0: unknown.
uint32_t own_id(pid_t pid, pid_t thread);

struct Stop {
  int signal = 0;  // 0: none within our patience, or the thread is gone
  int event = 0;   // PTRACE_EVENT_STOP or 0
};
Stop wait_for_stop(pid_t pid, pid_t thread, long patience_us);

// Lets it go on: a signal that has stopped it takes its course, and so does a stop of the whole process.
bool go_on_after(pid_t thread, const Stop& stop);

// Of a thread that was interrupted (PTRACE_INTERRUPT): until that is what it stopped for. False also where it became
// another program, or is gone.
bool await_interrupt(pid_t pid, pid_t thread, long patience_us);

}  // namespace penna
