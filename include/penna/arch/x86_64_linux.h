/* SPDX-License-Identifier: MIT
 *
 * Raw system calls, x86-64 Linux (psABI appendix A.2: number in rax, arguments in rdi rsi rdx r10 r8 r9, result in rax;
 * rcx and r11 are lost).
 *
 * Why not libc's wrappers: they set errno, are cancellation points, and the program may have replaced them.
 * Invariant: a result in [-4095, -1] is a negated errno; nothing else of the thread's state changes.
 */
#ifndef PENNA_ARCH_X86_64_LINUX_H
#define PENNA_ARCH_X86_64_LINUX_H

#include <stdint.h>

#include "penna/detail/language.h"

PENNA_C_CODE_BEGIN

#define PENNA_ARCH_HAS_LINUX 1
#define PENNA_ARCH_HAS_MEMORY_FILE 1

enum {
  PENNA_SYS_close = 3,
  PENNA_SYS_mmap = 9,
  PENNA_SYS_mprotect = 10,
  PENNA_SYS_munmap = 11,
  PENNA_SYS_pwrite64 = 18,
  PENNA_SYS_sched_yield = 24,
  PENNA_SYS_getpid = 39,
  PENNA_SYS_openat = 257,
  PENNA_SYS_memfd_create = 319,
  PENNA_SYS_membarrier = 324
};

static inline long penna_arch_syscall(long number, long a, long b, long c, long d, long e, long f) {
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

PENNA_C_CODE_END

#endif
