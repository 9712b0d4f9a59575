/* SPDX-License-Identifier: MIT
 *
 * i386, from the Pentium on. 64 bits are exchanged by cmpxchg8b, here too without the lock prefix (see x86_64.h); an
 * addition is a loop around it, which repeats only when a signal handler ran in between.
 */
#ifndef PENNA_ARCH_I386_H
#define PENNA_ARCH_I386_H

#include "penna/arch/x86_tsc.h"
#include "penna/detail/language.h"

PENNA_C_CODE_BEGIN

static inline int penna_arch_cas_local(uint64_t* word, uint64_t expected, uint64_t desired) {
  unsigned char stored;
  __asm__ volatile("cmpxchg8b %1"
                   : "=@ccz"(stored), "+m"(*word), "+A"(expected)
                   : "b"((uint32_t)desired), "c"((uint32_t)(desired >> 32))
                   : "cc");
  return stored;
}

static inline uint64_t penna_arch_add_local(uint64_t* word, uint64_t value) {
  uint64_t seen;
  do {
    seen = *(volatile uint64_t*)word; /* may be torn: then the exchange fails */
  } while (!penna_arch_cas_local(word, seen, seen + value));
  return seen;
}

PENNA_C_CODE_END

#endif
