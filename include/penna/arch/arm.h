/* SPDX-License-Identifier: MIT
 *
 * ARMv7-A, A32 and T32. The clock is the virtual counter of the generic timer, which cores since Cortex-A7 and A15
 * have, and which the operating system must open to user code; else define PENNA_CLOCK (clock.h).
 * Reference: Arm ARM for ARMv7-A, B8 (the generic timer).
 */
#ifndef PENNA_ARCH_ARM_H
#define PENNA_ARCH_ARM_H

#include "penna/arch/compiler_atomics.h"
#include "penna/detail/language.h"

PENNA_C_CODE_BEGIN

static inline uint64_t penna_arch_ticks(void) {
  uint64_t ticks;
  __asm__ volatile("mrrc p15, 1, %Q0, %R0, c14" : "=r"(ticks)); /* CNTVCT */
  return ticks;
}

static inline uint64_t penna_arch_ticks_per_second(void) {
  uint32_t frequency;
  __asm__("mrc p15, 0, %0, c14, c0, 0" : "=r"(frequency)); /* CNTFRQ */
  return frequency;
}

PENNA_C_CODE_END

#endif
