/* SPDX-License-Identifier: MIT
 * As programs of Feather-Trace include it. Invariant: nothing of its own. */
#include "feather_trace.h"
