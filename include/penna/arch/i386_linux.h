/* SPDX-License-Identifier: MIT
 *
 * Raw system calls, i386 Linux (int 0x80: number in eax, arguments in ebx ecx edx esi edi ebp, result in eax). See
 * x86_64_linux.h.
 */
#ifndef PENNA_ARCH_I386_LINUX_H
#define PENNA_ARCH_I386_LINUX_H

#include <stdint.h>

#include "penna/detail/language.h"

PENNA_C_CODE_BEGIN

#define PENNA_ARCH_HAS_LINUX 1
#define PENNA_ARCH_HAS_MEMORY_FILE 0 /* as on AArch64 */

enum {
  PENNA_SYS_close = 6,
  PENNA_SYS_mmap = 192, /* mmap2 */
  PENNA_SYS_mprotect = 125,
  PENNA_SYS_munmap = 91,
  PENNA_SYS_sched_yield = 158,
  PENNA_SYS_getpid = 20,
  PENNA_SYS_pwrite64 = 181, /* the upper half of the offset comes after the lower */
  PENNA_SYS_openat = 295,
  PENNA_SYS_memfd_create = 356,
  PENNA_SYS_membarrier = 375
};

/* The sixth argument goes through the stack: the compiler may need ebp. */
static inline long penna_arch_syscall(long number, long a, long b, long c, long d, long e, long f) {
  const long last[2] = {f, number};
  long result;
  __asm__ volatile("push %%ebp\n push (%%eax)\n mov 4(%%eax), %%eax\n pop %%ebp\n int $0x80\n pop %%ebp\n"
                   : "=a"(result)
                   : "a"(last), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
                   : "memory", "cc");
  return result;
}

PENNA_C_CODE_END

#endif
