// SPDX-License-Identifier: MIT
// From "here" to a stack id: walks the caller's stack and keeps it in the channel's stack tree.
//
// Invariant: a stack id that was handed out names the same frames for the life of the channel.
#pragma once

#include <stdint.h>

#include "unwind/arch.h"

namespace penna::agent {

// The id of the stack that begins with the frame `caller`; 0 when it could not be stored (counted). Async-signal-safe.
uint32_t current_stack(const unwind::Registers& caller);

// Frames of this code are not shown, as those of the agent's own: what called it has called what it calls. One range,
// before events come.
void leave_out_of_stacks(uintptr_t begin, uintptr_t end);

// In a forked child: what this thread remembers of its last stack names nodes of its parent's channel.
void forget_last_stack();

// The current thread ends: its ThreadState goes back to the pool.
void release_thread_state();

// Code was unmapped: no cached rule may be used for what is mapped in its place.
void forget_unwind_rules();

}  // namespace penna::agent
