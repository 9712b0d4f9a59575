/* SPDX-License-Identifier: MIT
 *
 * Processors without a file of their own: the compiler's atomics, and the clock is left to the platform.
 */
#ifndef PENNA_ARCH_GENERIC_H
#define PENNA_ARCH_GENERIC_H

#include <stdint.h>

#if defined(__aarch64__)
static inline uint64_t penna_arch_ticks(void) {
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}
#else
uint64_t penna_arch_ticks(void); /* defined by the platform */
#endif

static inline uint64_t penna_arch_add_local(uint64_t* word, uint64_t value) {
  return __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}

static inline int penna_arch_cas_local(uint64_t* word, uint64_t expected, uint64_t desired) {
  return __atomic_compare_exchange_n(word, &expected, desired, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

#endif
