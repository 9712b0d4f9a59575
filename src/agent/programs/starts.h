// SPDX-License-Identifier: MIT
// Tells the recorder what this process starts (penna_starts in penna/channel.h): who is not recorded, and why, is known
// here alone.
//
// Invariant: async-signal-safe, also in the child of a vfork; no system call where the process has forbidden itself
// some.
#pragma once

#include <stdint.h>

#include "penna/channel.h"

namespace penna::agent {

// `pid`: 0 where it is not known. `ticks`: from before it was started. What is left alone for a filter of system calls
// is counted, too.
void report_start(uint32_t pid, penna_start_why why, const char* path, uint64_t ticks);

// Programs that are started and not recorded, as they would end of it (call_filters.h).
void count_unfollowed(int count);

// A forked child of the process with the channel `of_parent` has not met the recorder: by what is told there.
void report_unreached(struct penna_channel* of_parent);

// This process, as the kernel numbers it: in the child of a vfork another one than channel->pid.
uint32_t own_pid();

}  // namespace penna::agent
