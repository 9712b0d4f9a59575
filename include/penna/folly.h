/* SPDX-License-Identifier: MIT
 *
 * folly.h: folly's names for SDT probes (folly/tracing/StaticTracepoint.h), so that a program moves to penna/sdt.h by
 * changing an include.
 *
 * Differences: sizes carry their sign (folly marks all as signed), floats are passed as their bits, strings and
 * containers as pointers to their characters or elements; up to 12 arguments instead of 9; C works, too. A semaphore
 * counted by a probe needs no definition, and a second definition does no harm.
 * A semaphore belongs to the module that has the probe, which is the one tools count; it is found there first. Where it
 * is only declared, it is that of whichever module has it, and 0 if no module does.
 */
#ifndef PENNA_FOLLY_H
#define PENNA_FOLLY_H

#ifdef FOLLY_SDT
#error "folly/tracing/StaticTracepoint.h was included before: include one of the two"
#endif
/* A definition without a value counts as set. */
#if defined(FOLLY_DISABLE_SDT) && !defined(PENNA_DISABLE_POINTS)
#if 1 - FOLLY_DISABLE_SDT - 1 != 0
#define PENNA_DISABLE_POINTS
#endif
#endif
#if defined(FOLLY_SDT_ARG_CONSTRAINT) && !defined(PENNA_SDT_ARG_CONSTRAINT)
#define PENNA_SDT_ARG_CONSTRAINT FOLLY_SDT_ARG_CONSTRAINT
#endif

#include "penna/sdt.h"

#define FOLLY_HAVE_SDT PENNA_HAVE_SDT
#define FOLLY_SDT_NOTE_NAME "stapsdt"
#define FOLLY_SDT_NOTE_TYPE 3
#define FOLLY_SDT PENNA_SDT

#define FOLLY_SDT_SEMAPHORE(provider, name) folly_sdt_semaphore_##provider##_##name
#if PENNA_HAVE_SDT
#define FOLLY_SDT_WITH_SEMAPHORE(...) \
  PENNA_FITTING(PENNA_FOLLY_COUNTED, __VA_ARGS__)(PENNA_ARG_COUNT(__VA_ARGS__), __VA_ARGS__, ~)
/* At namespace scope; the first one with or without a semicolon. */
#define FOLLY_SDT_DEFINE_SEMAPHORE(provider, name)                                           \
  __asm__(PENNA_ASM_SEMAPHORE_AS(".protected", PENNA_FOLLY_SEMAPHORE(provider, name), "%")); \
  FOLLY_SDT_DECLARE_SEMAPHORE(provider, name);
#define FOLLY_SDT_DECLARE_SEMAPHORE(provider, name) \
  PENNA_EXTERN_C volatile unsigned short FOLLY_SDT_SEMAPHORE(provider, name)
/* Through the table of addresses: a program that is not position independent would copy a library's variable. */
#ifdef PENNA_ASM_AGENT_FUNCTION
#define FOLLY_SDT_IS_ENABLED(provider, name)                                        \
  (__extension__({                                                                  \
    const volatile unsigned short* penna_counted;                                   \
    PENNA_ASM_AGENT_FUNCTION(PENNA_FOLLY_SEMAPHORE(provider, name), penna_counted); \
    penna_counted != 0 && *penna_counted > 0;                                       \
  }))
#else
#define FOLLY_SDT_IS_ENABLED(provider, name) (FOLLY_SDT_SEMAPHORE(provider, name) > 0)
#endif

#define PENNA_FOLLY_SEMAPHORE(provider, name) "folly_sdt_semaphore_" #provider "_" #name
#define PENNA_FOLLY_COUNTED(n, provider, name, ...)                           \
  PENNA_SDT_PROBE(n, #provider, #name, PENNA_FOLLY_SEMAPHORE(provider, name), \
                  PENNA_ASM_SEMAPHORE_AS(".protected", PENNA_FOLLY_SEMAPHORE(provider, name), "%%"), __VA_ARGS__)
#else
#define FOLLY_SDT_WITH_SEMAPHORE PENNA_SDT
#define FOLLY_SDT_DEFINE_SEMAPHORE(provider, name) PENNA_SDT_DEFINE_SEMAPHORE(provider, name);
#define FOLLY_SDT_DECLARE_SEMAPHORE PENNA_SDT_DECLARE_SEMAPHORE
#define FOLLY_SDT_IS_ENABLED(provider, name) 0
#endif

#endif
