/* SPDX-License-Identifier: MIT
 *
 * folly.h: folly's names for SDT probes (folly/tracing/StaticTracepoint.h), so that a program moves to penna/sdt.h by
 * changing an include.
 *
 * What is different: sizes have their sign (folly marks all as signed), floats are their bits, semaphores need no
 * definition, strings and containers are pointers to their characters or elements, 12 arguments instead of 9, and C, too.
 */
#ifndef PENNA_FOLLY_H
#define PENNA_FOLLY_H

#ifdef FOLLY_SDT
#error "folly/tracing/StaticTracepoint.h was included before: include one of the two"
#endif
#if defined(FOLLY_DISABLE_SDT) && !defined(PENNA_DISABLE_POINTS)
#define PENNA_DISABLE_POINTS
#endif
#if defined(FOLLY_SDT_ARG_CONSTRAINT) && !defined(PENNA_SDT_ARG_CONSTRAINT)
#define PENNA_SDT_ARG_CONSTRAINT FOLLY_SDT_ARG_CONSTRAINT
#endif

#include "penna/sdt.h"

#define FOLLY_HAVE_SDT PENNA_HAVE_SDT
#define FOLLY_SDT PENNA_SDT
#define FOLLY_SDT_WITH_SEMAPHORE PENNA_SDT_WITH_SEMAPHORE
#define FOLLY_SDT_DEFINE_SEMAPHORE PENNA_SDT_DEFINE_SEMAPHORE
#define FOLLY_SDT_DECLARE_SEMAPHORE PENNA_SDT_DECLARE_SEMAPHORE
#define FOLLY_SDT_SEMAPHORE PENNA_SDT_SEMAPHORE
#define FOLLY_SDT_IS_ENABLED PENNA_SDT_IS_ENABLED

#endif
