// SPDX-License-Identifier: MIT
// Reports what this process starts (penna_starts in penna/channel.h): only this process knows which programs are not
// recorded, and why.
//
// Invariant: async-signal-safe, also in the child of a vfork; makes no system call if the process has seccomp filters.
#pragma once

#include <stdint.h>

#include "penna/channel.h"

namespace penna::agent {

// For report_start(); 0: the clock may not be read.
uint64_t time_of_start();

// `pid`: 0 if unknown. `ticks`: before the start. Also counts programs that are not followed because of a seccomp
// filter.
void report_start(uint32_t pid, penna_start_why why, const char* path, uint64_t ticks);

// Programs that are started but not recorded, because that would kill them (call_filters.h).
void count_unfollowed(int count);

// A forked child of the process with the channel `of_parent` could not meet the recorder: reported in that channel.
void report_not_met(struct penna_channel* of_parent, penna_start_why why);

// The pid of this process, for report_start(): in the child of a vfork it differs from channel->pid.
uint32_t own_pid();

}  // namespace penna::agent
