/* SPDX-License-Identifier: MIT
 *
 * The compiler's atomics, for processors where atomicity within one thread is no cheaper than among all.
 */
#ifndef PENNA_ARCH_COMPILER_ATOMICS_H
#define PENNA_ARCH_COMPILER_ATOMICS_H

#include <stdint.h>

#include "penna/detail/language.h"

PENNA_C_CODE_BEGIN

static inline uint64_t penna_arch_add_local(uint64_t* word, uint64_t value) {
  return __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}

static inline int penna_arch_cas_local(uint64_t* word, uint64_t expected, uint64_t desired) {
  return __atomic_compare_exchange_n(word, &expected, desired, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

PENNA_C_CODE_END

#endif
