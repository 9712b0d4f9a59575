/* SPDX-License-Identifier: MIT
 * For programs that include this header of Feather-Trace. Invariant: adds nothing. */
#include "feather_trace.h"
