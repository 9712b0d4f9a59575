// SPDX-License-Identifier: MIT
// Copies the arguments and results of functions into VALUES records, as the recorder has planned (penna/value_plan.h).
//
// Why the target only loads: what a value is, and where compilers pass it, the recorder has found out.
// Invariant: memory that a value leads to is read by the kernel, which fails where a load would fault.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "penna/patch_plan.h"
#include "unwind/arch.h"

namespace penna::agent {

// What calls_x86_64.S keeps of a function that is about to run, or has just run, on its way to C++.
//
//   0         +--------------+-----+-----+----+----+--------+
//             | xmm0 to xmm7 | r11 | r10 | r9 | r8 |  rbp   |
//   104       +-----+-----+--+--+--+--+--+--+-+----+--------+--------+
//             | rdi | rsi | rdx | rcx | rax | way | resume | caller | memory of the caller: more arguments
//   168       +-----+-----+-----+-----+-----+-----+--------+--------+
//                                          `--- of a function that has run, the memory of the caller begins here
struct CallRegisters {
  uint64_t vector[8];  // the lower half of each
  uint64_t r11, r10, r9, r8;
  uint64_t rbp;  // of a function that is about to run and has built no frame
  uint64_t rdi, rsi, rdx, rcx, rax;
  uint64_t way;
  uint64_t resume, caller;  // not of a function that has run
};
static_assert(sizeof(CallRegisters) == 168 && offsetof(CallRegisters, rdi) == 104);
static_assert(offsetof(CallRegisters, resume) == 152 && offsetof(CallRegisters, caller) == 160);

// Keeps what a plan says of values. The caller holds the board's lock.
void add_captures(const penna_capture* captures, uint32_t count, const penna_value* values, uint32_t value_count,
                  const char* text, uint32_t text_bytes);
// Code in [start, end) has been unmapped.
void forget_captures(uintptr_t start, uintptr_t end);
// In a forked child, whose channel knows none of its sites.
void forget_told_captures();

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
