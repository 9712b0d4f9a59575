// SPDX-License-Identifier: MIT
// Copies arguments and results of functions into VALUES records, as planned by the recorder (penna/value_plan.h).
//
// Why the target only loads: the recorder has worked out the types, and where the compiler passes each value.
// Invariant: memory that a pointer leads to is read by the kernel, which reports an error where a load would fault.
#pragma once

#include <stdint.h>

#include "agent/calls/arch.h"
#include "penna/patch_plan.h"
#include "unwind/arch.h"

namespace penna::agent {

// Adds the captures of a plan. The caller holds the board's lock.
void add_captures(const penna_capture* captures, uint32_t count, const penna_value* values, uint32_t value_count,
                  const char* text, uint32_t text_bytes);
// Code in [start, end) was unmapped.
void forget_captures(uintptr_t start, uintptr_t end);
// In a forked child: its channel knows none of the sites yet.
void forget_recorded_captures();

// Whether any value of this function is wanted. Async-signal-safe, like everything below.
bool has_captures(uintptr_t function);
// Whether the stack of any function is wanted.
bool wants_callers();
// Records arguments, right after the entry. `caller`: the frame that called the function; its sp is the address of the
// first argument in memory.
void write_arguments(uintptr_t function, const CallRegisters& registers, const unwind::Registers& caller);
// The same for a function that reports its own entry, by a call that returns to `resume`: only its stack is available.
// `hook`: the frame of the hook that was called.
void write_callers(uintptr_t function, uintptr_t resume, const unwind::HookFrame& hook);
// Records results, right before the exit.
void write_result(uintptr_t function, const CallRegisters& registers);

}  // namespace penna::agent
