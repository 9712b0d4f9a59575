/* SPDX-License-Identifier: MIT
 *
 * clock.h: the clock that stamps records.
 * Why: rdtsc costs half of the vDSO's clock_gettime (8 against 18 ns) and needs no call. The recorder stores its value
 * next to those of the kernel's clocks now and then, so that a reader can convert ticks to time. Invariant: monotonic
 * on every thread, 64 bits wide.
 * Define these before the include on platforms whose processor has no such counter: PENNA_CLOCK, a function or macro
 * without arguments that returns ticks, and PENNA_CLOCK_RATE, ticks per second.
 */
#ifndef PENNA_CLOCK_H
#define PENNA_CLOCK_H

#include "penna/arch/arch.h"
#include "penna/detail/language.h"

#ifndef PENNA_CLOCK
#define PENNA_CLOCK penna_arch_ticks
#endif
#ifndef PENNA_CLOCK_RATE
#define PENNA_CLOCK_RATE penna_arch_ticks_per_second()
#endif

/* The current time in ticks. Thread-safe and async-signal-safe if PENNA_CLOCK is. */
static inline uint64_t penna_now(void) { return PENNA_CLOCK(); }

/* 0 if unknown: it must then be measured against another clock. */
static inline uint64_t penna_ticks_per_second(void) { return PENNA_CLOCK_RATE; }

#endif
