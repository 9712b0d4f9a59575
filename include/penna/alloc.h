/* SPDX-License-Identifier: MIT
 *
 * alloc.h: tells `penna record -k alloc` what happens in pools, arenas and free lists of the program's own.
 *
 *     PENNA_POOL_ALLOC("requests", block, size)     the pool has just given this block out
 *     PENNA_POOL_FREE("requests", block)            the pool is about to take it back
 *
 * Each pool is a family of its own, by its name (up to 55 bytes, copied; any string, up to 256 different ones a
 * process): its blocks are matched with each other, and with nothing that malloc or mmap gave, so a pool may hand out
 * parts of blocks that are recorded besides. Call PENNA_POOL_ALLOC behind the pool's own work, and PENNA_POOL_FREE
 * before it, so that no other thread can be told in between to have the same address. A block that lives in several
 * pools, one inside the other, is told to each. Null blocks are not told.
 *
 * Nothing to link. While nobody records: one nop each, in front of which arguments are evaluated. Recorded: with the
 * stack of the function that says so. Both are statements. Signal-safe, thread-safe. C11 and C++17. Where the recorder
 * cannot be (other processors than x86-64), or with PENNA_DISABLE_POINTS: nothing but the arguments.
 */
#ifndef PENNA_ALLOC_H
#define PENNA_ALLOC_H

#include <stddef.h>

#include "penna/point.h"

/* Macros, so that stacks begin with who says this, and not with us. */
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
/* All sites of a file share one state: they are switched together. */
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
