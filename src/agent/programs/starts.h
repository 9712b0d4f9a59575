// SPDX-License-Identifier: MIT
// Reports what this process starts (penna_starts in penna/channel.h): only this process knows which programs are not
// recorded, and why.
//
// Invariant: async-signal-safe, also in the child of a vfork; makes no system call if the process has seccomp filters.
#pragma once

#include <stdint.h>

#include "penna/channel.h"

namespace penna::agent {

// `pid`: 0 if unknown. `ticks`: before the start. Also counts programs that are not followed because of a seccomp
// filter.
void report_start(uint32_t pid, penna_start_why why, const char* path, uint64_t ticks);

// Programs that are started but not recorded, because that would kill them (call_filters.h).
void count_unfollowed(int count);

// A forked child of the process with the channel `of_parent` could not meet the recorder: reported in that channel.
void report_unreached(struct penna_channel* of_parent);

// The pid of this process: in the child of a vfork it differs from channel->pid.
uint32_t own_pid();

}  // namespace penna::agent
