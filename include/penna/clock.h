/* SPDX-License-Identifier: MIT
 *
 * clock.h: the clock that stamps records.
 * Why: rdtsc costs half of the vDSO's clock_gettime (8 against 18 ns) and needs no call. The recorder logs pairs of its
 * value and the kernel's clocks, so that a reader can turn ticks into time. Invariant: monotonic on every thread.
 */
#ifndef PENNA_CLOCK_H
#define PENNA_CLOCK_H

#include "penna/arch/arch.h"

static inline uint64_t penna_now(void) { return penna_arch_ticks(); }

#endif
