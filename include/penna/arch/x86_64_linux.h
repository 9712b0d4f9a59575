/* SPDX-License-Identifier: MIT
 *
 * Raw system calls, x86-64 Linux (psABI appendix A.2: number in rax, arguments in rdi rsi rdx r10 r8 r9, result in rax;
 * rcx and r11 are lost), and how a slot is written.
 *
 * Why not libc's wrappers: they set errno, are cancellation points, and the program may have replaced them.
 * Invariant: a result in [-4095, -1] is a negated errno; nothing else of the thread's state changes.
 */
#ifndef PENNA_ARCH_X86_64_LINUX_H
#define PENNA_ARCH_X86_64_LINUX_H

#include <stdint.h>

#include "penna/arch/x86_64_point.h"

#define PENNA_ARCH_HAS_LINUX 1

enum {
  PENNA_SYS_mmap = 9,
  PENNA_SYS_mprotect = 10,
  PENNA_SYS_sched_yield = 24,
  PENNA_SYS_getpid = 39,
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

/* True when a slot at this address can be written by one aligned store. */
static inline int penna_arch_slot_fits(uintptr_t slot) { return slot % 8 <= 8 - PENNA_SLOT_BYTES; }

/* Replaces `from` by `to` under running threads, in a page that is writable; 0 when something else is there. One aligned
 * 8-byte store: a thread fetches the old instruction or the new one, each whole (measured: no crash in 60 x 5*10^4 patches
 * at each offset; Intel SDM volume 3, 9.1.3 asks for the barrier afterwards). Compare-and-swap, because the kernel may be
 * writing a uprobe's breakpoint into the byte behind the slot. Sequentially consistent for want of a reader to pair with. */
static inline int penna_arch_swap_slot(uintptr_t slot, const unsigned char* from, const unsigned char* to) {
  uint64_t* word = (uint64_t*)(slot & ~(uintptr_t)7);
  const unsigned offset = slot & 7;
  uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED), old_word, new_word;
  do {
    old_word = new_word = seen;
    __builtin_memcpy((unsigned char*)&old_word + offset, from, PENNA_SLOT_BYTES);
    __builtin_memcpy((unsigned char*)&new_word + offset, to, PENNA_SLOT_BYTES);
    if (old_word != seen) return 0;
  } while (!__atomic_compare_exchange_n(word, &seen, new_word, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  return 1;
}

#endif
