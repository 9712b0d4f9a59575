/* SPDX-License-Identifier: MIT
 *
 * arch.h: picks the file of this processor. Each file defines the same few functions, so that no other header has an
 * architecture #if:
 *   penna_arch_ticks()                  a monotonic counter of constant rate
 *   penna_arch_ticks_per_second()       its rate; 0 where the processor does not report it
 *   penna_arch_add_local(word, value)   fetch-and-add that is atomic against signal handlers of the same thread only
 *   penna_arch_cas_local(word, old, new) compare-and-swap, likewise; true when it stored
 */
#ifndef PENNA_ARCH_H
#define PENNA_ARCH_H

#include <stdint.h>

#if defined(__x86_64__)
#include "penna/arch/x86_64.h"
#elif defined(__i386__)
#include "penna/arch/i386.h"
#elif defined(__aarch64__)
#include "penna/arch/aarch64.h"
#elif defined(__arm__) && __ARM_ARCH >= 7 && __ARM_ARCH_PROFILE == 'A'
#include "penna/arch/arm.h"
#else
#include "penna/arch/generic.h"
#endif

#endif
