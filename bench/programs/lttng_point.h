/* SPDX-License-Identifier: MIT
 * LTTng-UST's side of points.cc: the tracepoint provider penna_bench, with an event of two integers and one of a
 * string. LTTng includes this header several times, so it has its own guard instead of #pragma once. */
#undef TRACEPOINT_PROVIDER
#define TRACEPOINT_PROVIDER penna_bench
#undef TRACEPOINT_INCLUDE
#define TRACEPOINT_INCLUDE "./lttng_point.h"

#if !defined(PENNA_BENCH_LTTNG_POINT_H) || defined(TRACEPOINT_HEADER_MULTI_READ)
#define PENNA_BENCH_LTTNG_POINT_H
#include <lttng/tracepoint.h>

TRACEPOINT_EVENT(penna_bench, pair, TP_ARGS(int, low, long, whole),
                 TP_FIELDS(ctf_integer(int, low, low) ctf_integer(long, whole, whole)))
TRACEPOINT_EVENT(penna_bench, text, TP_ARGS(const char*, line), TP_FIELDS(ctf_string(line, line)))
#endif

#include <lttng/tracepoint-event.h>
