/* SPDX-License-Identifier: MIT
 *
 * alloc.h: reports the program's own pools, arenas and free lists to `penna record -k alloc`.
 *
 *     PENNA_POOL_ALLOC("requests", block, size)     right after the pool returned this block
 *     PENNA_POOL_FREE("requests", block)            right before the pool takes it back
 *
 * The name identifies the pool (any string, copied, up to 55 bytes; up to 256 pools per process). Each pool is its own
 * family: its frees match only its own allocations, never those of malloc or mmap, so a pool may carve its blocks out
 * of recorded memory. `size` is in bytes. Report an allocation after the pool's own work and a free before it;
 * otherwise two threads may appear to own one address at once. Report a block of nested pools to each of them. Null
 * blocks are ignored.
 *
 * Both macros are statements and report no error; what cannot be recorded is counted as lost. The stack starts at the
 * function that contains the macro. While nothing records, each costs one instruction without effect; its arguments
 * are always evaluated. Thread-safe and async-signal-safe. C11 and C++17, nothing to link. Without support for the
 * processor (only x86-64 has it), or with PENNA_DISABLE_POINTS, only the arguments remain.
 */
#ifndef PENNA_ALLOC_H
#define PENNA_ALLOC_H

#include <stddef.h>

#include "penna/point.h"

/* Macros, because a function would become the innermost frame of every stack. */
#define PENNA_POOL_ALLOC(pool, block, size)                                               \
  do {                                                                                    \
    const char* const penna_pool = (pool);                                                \
    const void* const penna_block = (block);                                              \
    const size_t penna_size = (size);                                                     \
    PENNA_POOL_SITE(__COUNTER__, pool_alloc, "alloc", (const char*, const void*, size_t), \
                    (penna_pool, penna_block, penna_size));                               \
    (void)penna_size;                                                                     \
  } while (0)
#define PENNA_POOL_FREE(pool, block)                                                                        \
  do {                                                                                                      \
    const char* const penna_pool = (pool);                                                                  \
    const void* const penna_block = (block);                                                                \
    PENNA_POOL_SITE(__COUNTER__, pool_free, "free", (const char*, const void*), (penna_pool, penna_block)); \
  } while (0)

/* ---- Implementation ---------------------------------------------------------------------------------------------- */

#if defined(PENNA_ARCH_HAS_POINTS) && defined(PENNA_ASM_AGENT_FUNCTION)
#define PENNA_POOL_SITE(id, what, name, types, arguments) PENNA_POOL_SITE_(id, what, name, types, arguments)
/* All sites of a file share one state, since they are always switched together. */
#define PENNA_POOL_SITE_(id, what, name, types, arguments)                                                \
  PENNA_IF_ARMED(id, ".Lpenna_state_" #what, "",                                                          \
                 PENNA_SITE_OPERANDS(PENNA_SITE_POOL, PENNA_NO_NUMBER, 0, "pool\0" name "\0" __FILE__)) { \
    void(*penna_function) types;                                                                          \
    PENNA_ASM_AGENT_FUNCTION("penna_agent_" #what, penna_function);                                       \
    if (penna_function) penna_function arguments;                                                         \
  }
#else
#define PENNA_POOL_SITE(id, what, name, types, arguments) (void)penna_pool, (void)penna_block
#endif

#endif
