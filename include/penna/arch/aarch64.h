/* SPDX-License-Identifier: MIT
 *
 * AArch64. The clock is the virtual counter of the generic timer: constant rate, the same on all cores, readable by
 * user code under Linux. Not ordered with the instructions around it (an isb would cost more than the reading).
 * Reference: Arm ARM, D11 (the generic timer) and B2.2.1 (single-copy atomicity).
 */
#ifndef PENNA_ARCH_AARCH64_H
#define PENNA_ARCH_AARCH64_H

#include "penna/arch/compiler_atomics.h"
#include "penna/detail/language.h"

PENNA_C_CODE_BEGIN

static inline uint64_t penna_arch_ticks(void) {
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}

static inline uint64_t penna_arch_ticks_per_second(void) {
  uint64_t frequency;
  __asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
  return frequency;
}

PENNA_C_CODE_END

#endif
