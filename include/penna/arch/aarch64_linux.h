/* SPDX-License-Identifier: MIT
 *
 * Raw system calls, AArch64 Linux (number in x8, arguments in x0 .. x5, result in x0). See x86_64_linux.h.
 */
#ifndef PENNA_ARCH_AARCH64_LINUX_H
#define PENNA_ARCH_AARCH64_LINUX_H

#include "penna/arch/point.h"
#include "penna/detail/language.h"

PENNA_C_CODE_BEGIN

#define PENNA_ARCH_HAS_LINUX 1
#define PENNA_ARCH_HAS_MEMORY_FILE 0 /* emulators miss such writes: qemu-user runs what it translated before */

enum {
  PENNA_SYS_openat = 56,
  PENNA_SYS_close = 57,
  PENNA_SYS_pwrite64 = 68,
  PENNA_SYS_mmap = 222,
  PENNA_SYS_mprotect = 226,
  PENNA_SYS_munmap = 215,
  PENNA_SYS_sched_yield = 124,
  PENNA_SYS_getpid = 172,
  PENNA_SYS_memfd_create = 279,
  PENNA_SYS_membarrier = 283
};

static inline long penna_arch_syscall(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}

PENNA_C_CODE_END

#endif
