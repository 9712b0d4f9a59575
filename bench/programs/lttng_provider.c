/* SPDX-License-Identifier: MIT
 * The one translation unit in which LTTng generates the code of the provider in lttng_point.h. */
#define TRACEPOINT_CREATE_PROBES
#define TRACEPOINT_DEFINE
#include "lttng_point.h"
