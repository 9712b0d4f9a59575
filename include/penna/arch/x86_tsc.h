/* SPDX-License-Identifier: MIT
 *
 * The time stamp counter, the same on all x86. Not ordered with the instructions around it: that would double the cost.
 * Reference: Intel SDM volume 3, 18.17.
 */
#ifndef PENNA_ARCH_X86_TSC_H
#define PENNA_ARCH_X86_TSC_H

#include <stdint.h>

#include "penna/detail/language.h"

PENNA_C_CODE_BEGIN

static inline uint64_t penna_arch_ticks(void) {
  /* Whole registers, whose upper halves rdtsc zeroes: no further instruction does. Not "=A": on x86-64 that is a single
   * register, which gets half of the time. */
  unsigned long low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (uint64_t)high << 32 | low;
}

/* Waits for earlier loads: otherwise rdtsc may execute ahead of them, on AMD by more than 100 ns. */
static inline void penna_arch_await_loads(void) { __asm__ volatile("lfence" : : : "memory"); }

static inline uint64_t penna_arch_ticks_per_second(void) { return 0; }

PENNA_C_CODE_END

#endif
