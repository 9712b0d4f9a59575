// SPDX-License-Identifier: MIT
// Raw system calls for the agent, x86-64 (psABI appendix A.2: number in rax, arguments in rdi rsi rdx r10 r8 r9,
// result in rax, rcx and r11 clobbered).
//
// Why not libc's wrappers: they set errno, are cancellation points, and the target may have replaced them.
// Invariant: a result in [-4095, -1] is a negated errno; nothing else of the thread's state changes.
#pragma once

#include <sys/syscall.h>

namespace penna::agent {

inline long sys(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

inline bool sys_failed(long result) { return result < 0 && result >= -4095; }

}  // namespace penna::agent
