// SPDX-License-Identifier: MIT
// The agent's life in a process: it meets the recorder, survives fork, and knows when to be silent.
//
// Invariant: everything here is async-signal-safe, takes no lock and preserves errno. Without a recorder that answers,
// the agent is inert: its hooks cost one test.
#pragma once

#include "agent/core/state.h"

namespace penna::agent {

// False once the recorder has ended, in whatever way: the kernel marks the robust futex that it holds.
bool recorder_alive();

// Registers the current thread with the channel; true if it was not registered before. Also arms the destructor that
// hands over the thread's last chunk.
bool enter_thread();

// Announces to the recorder that a process or program is about to start (+1), or failed to (-1), so that it does not
// end the recording in between. A hint: it only decides how long the recorder waits at the end.
void expect_process(int count);

// Around fork, in the parent; the child calls after_fork_or_start(), if its armed() is 0.
void before_fork();
void after_fork();

}  // namespace penna::agent
