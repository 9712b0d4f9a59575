// SPDX-License-Identifier: MIT
// Raw system calls for the agent: sys(number, ...) and sys_failed(result).
//
// Why not libc's wrappers: they set errno, are cancellation points, and the target may have interposed them.
// Invariant: a result in [-4095, -1] is a negated errno; nothing else of the thread's state changes.
#pragma once

#include <sys/syscall.h>

#include "penna/arch/linux.h"

#ifndef PENNA_ARCH_HAS_LINUX
#error "the agent is not yet ported to this processor"
#endif

namespace penna::agent {

inline long sys(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  return penna_arch_syscall(number, a, b, c, d, e, f);
}

inline bool sys_failed(long result) { return result < 0 && result >= -4095; }

}  // namespace penna::agent
