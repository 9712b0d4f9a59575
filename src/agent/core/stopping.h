// SPDX-License-Identifier: MIT
// How recording ends in a process that continues.
//
// Invariant: async-signal-safe; what was armed in the program's code is disarmed, as far as that can be done while it
// runs.
#pragma once

namespace penna::agent {

// Stops recording in this process for good. Chunks that are in the channel stay there for the collector. Idempotent.
void stop_recording();

// The same without a system call: this process has a seccomp filter that would kill it for one.
void leave_system_calls();

}  // namespace penna::agent
