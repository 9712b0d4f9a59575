/* SPDX-License-Identifier: MIT
 *
 * usdt.h: libbpf's usdt.h names for SDT probes, so that a program moves to penna/sdt.h by changing an include.
 *
 *     USDT(group, name, arguments...)
 *     USDT_WITH_SEMA(group, name, arguments...)       USDT_IS_ACTIVE(group, name)
 *     USDT_WITH_EXPLICIT_SEMA(sema, group, name, arguments...)       USDT_SEMA_IS_ACTIVE(sema)
 *     USDT_DECLARE_SEMA(sema);  USDT_DEFINE_SEMA(sema);  USDT_SEMA(sema).active
 *
 * Up to 12 arguments, as in penna/sdt.h, with the sign of their types. Two definitions of a semaphore are one. A
 * semaphore belongs to the module that has the probe.
 */
#ifndef PENNA_USDT_H
#define PENNA_USDT_H

#ifdef USDT
#error "usdt.h was included before: include one of the two"
#endif

#include "penna/sdt.h"

struct usdt_sema {
  volatile unsigned short active;
};

#define USDT PENNA_SDT
#define USDT_WITH_SEMA PENNA_SDT_WITH_SEMAPHORE
#define USDT_SEMA_IS_ACTIVE(sema) (USDT_SEMA(sema).active > 0)

#if PENNA_HAVE_SDT
#define USDT_WITH_EXPLICIT_SEMA(sema, ...) PENNA_USDT_COUNTED(PENNA_ARG_COUNT(__VA_ARGS__), sema, __VA_ARGS__, ~)
#define USDT_SEMA(sema) penna_usdt_sema_##sema
/* At namespace scope, in any namespace. */
#define USDT_DECLARE_SEMA(sema) PENNA_EXTERN_C __attribute__((visibility("hidden"))) struct usdt_sema USDT_SEMA(sema)
#define USDT_DEFINE_SEMA(sema)                              \
  __asm__(PENNA_ASM_SEMAPHORE(PENNA_USDT_SEMA(sema), "%")); \
  USDT_DECLARE_SEMA(sema)
/* This semaphore is never declared: it is named where it is read, and is the probe's if that exists. */
#define USDT_IS_ACTIVE(group, name)                                                     \
  (__extension__({                                                                      \
    __asm__ volatile(PENNA_ASM_SEMAPHORE(PENNA_SEMAPHORE_NAME(group, name), "%%") : :); \
    PENNA_USDT_COUNT(group, name, penna_count);                                         \
    *penna_count > 0;                                                                   \
  }))
#else /* all semaphores are the same one, which stays 0 */
#define USDT_WITH_EXPLICIT_SEMA(sema, ...) PENNA_SDT(__VA_ARGS__)
#define USDT_SEMA(sema) (*penna_usdt_no_sema())
#define USDT_DECLARE_SEMA(sema) PENNA_STATIC_ASSERT(1, #sema)
#define USDT_DEFINE_SEMA USDT_DECLARE_SEMA
#define USDT_IS_ACTIVE(group, name) 0
#endif

/* ---- Implementation ---------------------------------------------------------------------------------------------- */

#define PENNA_USDT_SEMA(sema) "penna_usdt_sema_" #sema
#define PENNA_USDT_COUNTED(n, sema, group, name, ...) \
  PENNA_SDT_PROBE(n, #group, #name, PENNA_USDT_SEMA(sema), "", __VA_ARGS__)
#ifdef PENNA_ASM_AGENT_FUNCTION /* in an unnamed namespace, clang declares no variables of other files */
#define PENNA_USDT_COUNT(group, name, to) \
  const volatile unsigned short* to;      \
  PENNA_ASM_AGENT_FUNCTION(PENNA_SEMAPHORE_NAME(group, name), to)
#else
#define PENNA_USDT_COUNT(group, name, to)                                                                         \
  extern __attribute__((visibility("hidden"))) volatile unsigned short penna_usdt_count_##group##_##name __asm__( \
      PENNA_SEMAPHORE_NAME(group, name));                                                                         \
  const volatile unsigned short* to = &penna_usdt_count_##group##_##name
#endif
static inline __attribute__((unused)) struct usdt_sema* penna_usdt_no_sema(void) {
  static struct usdt_sema none;
  return &none;
}

#endif
