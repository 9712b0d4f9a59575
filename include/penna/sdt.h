/* SPDX-License-Identifier: MIT
 *
 * sdt.h: static tracepoints for gdb, perf, bpftrace and SystemTap only: a nop and a note, nothing specific to Penna.
 * For points that Penna records, too, see point.h.
 *
 *     PENNA_SDT(provider, name, arguments...)
 *     PENNA_SDT_WITH_SEMAPHORE(provider, name, arguments...)
 *     PENNA_SDT_DECLARE_SEMAPHORE(provider, name);     at namespace scope, in a header
 *     PENNA_SDT_DEFINE_SEMAPHORE(provider, name);      the same: it may be missing, or repeated
 *     PENNA_SDT_IS_ENABLED(provider, name)             whether a tool is attached: one load and one comparison
 *
 * C11 and C++17; provider and name are identifiers, also numbers. 0 to 12 arguments, each evaluated once: numbers,
 * enums, bool, pointers; arrays as pointers; in C++ std::string and the like as a pointer to their characters; floats
 * as their bits, because no tool reads floating point registers. Sizes have the sign of their types; a struct is passed
 * in memory with its sizeof, which the note may say but no tool reads.
 * A semaphore belongs to the module (program or library) in which it is named: tools increment the one in the file that
 * has the site.
 * Without support for the processor, or with PENNA_DISABLE_POINTS: PENNA_HAVE_SDT is 0, arguments are evaluated and
 * nothing else happens, PENNA_SDT_IS_ENABLED is 0.
 * Options, before the include: PENNA_SDT_ARG_CONSTRAINT, the constraint for arguments in inline assembly (a memory
 * operand saves a register, but tools cannot read every form that compilers emit); PENNA_POINT_NOP10, see point.h.
 * Reference: https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation (the note, version 3).
 */
#ifndef PENNA_SDT_H
#define PENNA_SDT_H

#include "penna/detail/language.h"

#ifdef __cplusplus
#include "penna/detail/args_cxx.h"
#else
#include "penna/detail/args_c.h"
#endif
#include "penna/detail/sdt_asm.h"

#define PENNA_SDT_SEMAPHORE(provider, name) \
  PENNA_CONCAT(PENNA_CONCAT(penna_sdt_semaphore_, provider), PENNA_CONCAT(_, name))

#ifdef PENNA_ARCH_HAS_SDT
#define PENNA_HAVE_SDT 1
#define PENNA_SDT(...) PENNA_FITTING(PENNA_SDT_, __VA_ARGS__)(PENNA_ARG_COUNT(__VA_ARGS__), __VA_ARGS__, ~)
#define PENNA_SDT_WITH_SEMAPHORE(...) \
  PENNA_FITTING(PENNA_SDT_COUNTED_, __VA_ARGS__)(PENNA_ARG_COUNT(__VA_ARGS__), __VA_ARGS__, ~)
#define PENNA_SDT_DECLARE_SEMAPHORE(provider, name) PENNA_SDT_SEMAPHORE_(provider, name)
#define PENNA_SDT_DEFINE_SEMAPHORE(provider, name) PENNA_SDT_SEMAPHORE_(provider, name)
#define PENNA_SDT_IS_ENABLED(provider, name) (PENNA_SDT_SEMAPHORE(provider, name) > 0)
#else
#define PENNA_HAVE_SDT 0
#define PENNA_SDT(...) PENNA_FITTING(PENNA_NO_POINT, __VA_ARGS__)(PENNA_ARG_COUNT(__VA_ARGS__), __VA_ARGS__, ~)
#define PENNA_SDT_WITH_SEMAPHORE PENNA_SDT
#define PENNA_SDT_DECLARE_SEMAPHORE(provider, name) PENNA_EXTERN_C volatile unsigned short penna_no_semaphore
#define PENNA_SDT_DEFINE_SEMAPHORE PENNA_SDT_DECLARE_SEMAPHORE
#define PENNA_SDT_IS_ENABLED(provider, name) 0
#endif

/* ---- Implementation ---------------------------------------------------------------------------------------------- */

/* clang-format off */
#define PENNA_NO_POINT(n, provider, name, ...) do { PENNA_EACH(n)(PENNA_EVALUATE, PENNA_NOTHING, __VA_ARGS__) } while (0)
#define PENNA_EVALUATE(i, arg) (void)(arg);

#define PENNA_SDT_(n, provider, name, ...) PENNA_SDT_PROBE(n, #provider, #name, "0", "", __VA_ARGS__)
#define PENNA_SDT_COUNTED_(n, provider, name, ...)                                                                   \
  PENNA_SDT_PROBE(n, #provider, #name, PENNA_SEMAPHORE_NAME(provider, name),                                         \
                  PENNA_ASM_SEMAPHORE(PENNA_SEMAPHORE_NAME(provider, name), "%%"), __VA_ARGS__)
#define PENNA_SDT_PROBE(n, provider, name, semaphore, more, ...)                                                     \
  do {                                                                                                               \
    PENNA_EACH(n)(PENNA_HOLD, PENNA_NOTHING, __VA_ARGS__)                                                            \
    if (PENNA_ANY_POINTS_AT_DATA(n)) __asm__ volatile("" : : : "memory"); /* tools read the data */                  \
    PENNA_EACH_OF(n, PENNA_SDT_BEFORE, PENNA_NOTHING)                                                                \
    __asm__ inline volatile(PENNA_ASM_PROBE(provider, name, semaphore,                                               \
                                            PENNA_EACH_OF(n, PENNA_ASM_SDT_ANY_ARG, PENNA_ASM_SPACE)) more           \
                            : : [structs] "i"(0 PENNA_EACH_OF(n, PENNA_SDT_STRUCT_BIT, PENNA_NOTHING))               \
                                PENNA_EACH_OF(n, PENNA_SDT_WHOLE_OPERANDS, PENNA_NOTHING));                          \
  } while (0)

#define PENNA_SDT_STRUCT_BIT(i, unused) | (PENNA_IS_STRUCT(i) << i)
#define PENNA_SDT_WHOLE_OPERANDS(i, unused)                                                                          \
  , [size##i] "i"(PENNA_SDT_WHOLE_STRUCTS && PENNA_IS_STRUCT(i) ? PENNA_STRUCT_SIZE(i) : PENNA_SDT_SIZE(i)),                                    \
    [arg##i] PENNA_SDT_ARG_CONSTRAINT(PENNA_SDT_PASSED(i))
#define PENNA_SDT_OPERANDS(i, unused) \
  [size##i] "i"(PENNA_SDT_SIZE(i)), [arg##i] PENNA_SDT_ARG_CONSTRAINT(PENNA_SDT_PASSED(i))
#define PENNA_ANY_POINTS_AT_DATA(n) (0 PENNA_EACH_OF(n, PENNA_OR_POINTS_AT_DATA, PENNA_NOTHING))
#define PENNA_OR_POINTS_AT_DATA(i, unused) || PENNA_IS_STRUCT(i) || PENNA_IS_PAIR(i)

#define PENNA_SDT_SEMAPHORE_(provider, name)                                                                         \
  __asm__(PENNA_ASM_SEMAPHORE(PENNA_SEMAPHORE_NAME(provider, name), "%"));                                           \
  PENNA_EXTERN_C __attribute__((visibility("hidden"))) volatile unsigned short PENNA_SDT_SEMAPHORE(provider, name)
/* clang-format on */

#endif
