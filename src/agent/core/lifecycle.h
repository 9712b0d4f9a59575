// SPDX-License-Identifier: MIT
// The agent's life in a process: meets the recorder, survives fork, knows when to be silent.
//
// Invariant: everything here is async-signal-safe, takes no lock and leaves errno alone. Without a recorder that
// answers, the agent is inert: its hooks cost one test.
#pragma once

#include "agent/core/state.h"

namespace penna::agent {

// False once the recorder has ended, in whatever way: the kernel marks the robust futex that it holds.
bool recorder_alive();

// Stops recording for good in this process. Chunks that are in the channel stay there.
void stop_recording();

// As above, without a system call: this process has a filter that ends it for one.
void leave_system_calls();

// Makes the current thread known to the channel; true when it was not before. Also arms the destructor that hands its
// chunk over when the thread ends.
bool enter_thread();

// Tells the recorder that a process or program is about to start (+1), or that it could not (-1): so that it does not
// end the recording in between. A hint: nothing depends on its truth but how long the recorder waits at the end.
void expect_process(int count);

}  // namespace penna::agent
