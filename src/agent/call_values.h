// SPDX-License-Identifier: MIT
// Copies the arguments and results of functions into VALUES records, as the recorder has planned (penna/value_plan.h).
//
// Why the target only loads: what a value is, and where compilers pass it, the recorder has found out.
// Invariant: memory that a value leads to is read by the kernel, which fails where a load would fault.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "penna/patch_plan.h"

namespace penna::agent {

// What calls_x86_64.S keeps of a function that is about to run, or has just run, on its way to C++.
//
//   0         +--------------+-----+-----+----+----+--------+
//             | xmm0 to xmm7 | r11 | r10 | r9 | r8 | unused |
//   104       +-----+-----+--+--+--+--+--+--+-+----+--------+--------+
//             | rdi | rsi | rdx | rcx | rax | way | resume | caller | memory of the caller: more arguments
//   168       +-----+-----+-----+-----+-----+-----+--------+--------+
//                                          `--- of a function that has run, the memory of the caller begins here
struct CallRegisters {
  uint64_t vector[8];  // the lower half of each
  uint64_t r11, r10, r9, r8, unused;
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

// Whether anything of this function is wanted. Async-signal-safe, as the two below.
bool has_captures(uintptr_t function);
// Right behind its entry. `stack`: address of its first argument in memory.
void write_arguments(uintptr_t function, const CallRegisters& registers, uintptr_t stack);
// Right before its exit.
void write_result(uintptr_t function, const CallRegisters& registers);

}  // namespace penna::agent
