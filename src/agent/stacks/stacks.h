// SPDX-License-Identifier: MIT
// From a frame to a stack id: walks the stack and stores it in the channel's stack tree.
//
// Invariant: a stack id that was handed out names the same frames for the life of the channel.
#pragma once

#include <stdint.h>

#include "unwind/arch.h"

namespace penna::agent {

// The id of the stack that starts with the frame `caller`; 0: it could not be stored (counted). Async-signal-safe.
uint32_t current_stack(const unwind::Registers& caller);

// Hides frames of this code, like those of the agent itself: whatever called it appears to have called what it calls.
// One range, set before the first event.
void leave_out_of_stacks(uintptr_t begin, uintptr_t end);

// In a forked child: the thread's memory of its last stack refers to nodes of the parent's channel.
void forget_last_stack();

// The current thread ends: its ThreadState returns to the pool.
void release_thread_state();
// The same for a thread that has ended without calling it.
struct ThreadState;
void return_thread_state(ThreadState* state);

// Code was unmapped: cached rules must not be used for what is mapped in its place.
void forget_unwind_rules();

// Where the code of this library begins and ends.
void own_code(uint64_t* start, uint64_t* end);

}  // namespace penna::agent
