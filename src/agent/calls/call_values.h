// SPDX-License-Identifier: MIT
// Copies the arguments and results of functions into VALUES records, as the recorder has planned (penna/value_plan.h).
//
// Why the target only loads: what a value is, and where compilers pass it, the recorder has found out.
// Invariant: memory that a value leads to is read by the kernel, which fails where a load would fault.
#pragma once

#include <stdint.h>

#include "agent/calls/arch.h"
#include "penna/patch_plan.h"
#include "unwind/arch.h"

namespace penna::agent {

// Keeps what a plan says of values. The caller holds the board's lock.
void add_captures(const penna_capture* captures, uint32_t count, const penna_value* values, uint32_t value_count,
                  const char* text, uint32_t text_bytes);
// Code in [start, end) has been unmapped.
void forget_captures(uintptr_t start, uintptr_t end);
// In a forked child, whose channel knows none of its sites.
void forget_recorded_captures();

// Whether anything of this function is wanted. Async-signal-safe, as all below.
bool has_captures(uintptr_t function);
// Whether the stack of any function is wanted.
bool wants_callers();
// Right behind its entry. `caller`: the frame from which it was called; where its sp is, the first argument in memory
// lies.
void write_arguments(uintptr_t function, const CallRegisters& registers, const unwind::Registers& caller);
// The same of a function that told of its entry itself, by a call that will return to `resume`: all that can be known
// of it is its stack. `hook`: the frame where that call has led to.
void write_callers(uintptr_t function, uintptr_t resume, const unwind::HookFrame& hook);
// Right before its exit.
void write_result(uintptr_t function, const CallRegisters& registers);

}  // namespace penna::agent
