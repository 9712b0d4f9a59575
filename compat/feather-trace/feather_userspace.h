/* SPDX-License-Identifier: MIT
 * For programs of the first Feather-Trace, which had to begin with this macro. */
#ifndef PENNA_FEATHER_USERSPACE_H
#define PENNA_FEATHER_USERSPACE_H

#include "feather_trace.h"

#define INIT_FT_EVENTS() ((void)init_ft_events())

#endif
