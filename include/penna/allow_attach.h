/* SPDX-License-Identifier: MIT
 *
 * allow_attach.h: lets debuggers and tracers of the same user attach to this process where Yama forbids it
 * (/proc/sys/kernel/yama/ptrace_scope is 1, as on Ubuntu): penna record -p, gdb -p, strace -p.
 *
 *     penna::allow_attach();      // C++, at the beginning of main
 *     penna_allow_attach();       // C
 *
 * Without Yama, and with ptrace_scope 2 or 3, nothing changes. The permission lasts until the process ends; forked
 * children do not inherit it. No library is needed. Thread-safe, async-signal-safe, keeps errno.
 */
#ifndef PENNA_ALLOW_ATTACH_H
#define PENNA_ALLOW_ATTACH_H

#include "penna/arch/linux.h"
#include "penna/detail/language.h"

PENNA_C_CODE_BEGIN

/* 1: allowed. 0: Yama is absent, or refuses. */
static inline int penna_allow_attach(void) {
#ifdef PENNA_ARCH_HAS_LINUX
  enum {
#if defined(__x86_64__)
    PENNA_SYS_prctl = 157,
#elif defined(__aarch64__)
    PENNA_SYS_prctl = 167,
#else
    PENNA_SYS_prctl = 172, /* i386 */
#endif
    PENNA_PR_SET_PTRACER = 0x59616d61
  };
  return penna_arch_syscall(PENNA_SYS_prctl, PENNA_PR_SET_PTRACER, -1 /* PR_SET_PTRACER_ANY */, 0, 0, 0, 0) == 0;
#else
  return 0;
#endif
}

PENNA_C_CODE_END

#ifdef __cplusplus
namespace penna {
// Same as penna_allow_attach().
inline bool allow_attach() noexcept { return penna_allow_attach() != 0; }
}  // namespace penna
#endif

#endif
