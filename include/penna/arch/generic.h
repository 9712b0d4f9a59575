/* SPDX-License-Identifier: MIT
 *
 * Processors without their own file: the compiler's atomics; the platform provides the clock.
 */
#ifndef PENNA_ARCH_GENERIC_H
#define PENNA_ARCH_GENERIC_H

#include "penna/arch/compiler_atomics.h"

uint64_t penna_arch_ticks(void);            /* defined by the platform, or unused: see PENNA_CLOCK in clock.h */
uint64_t penna_arch_ticks_per_second(void); /* likewise */

#endif
