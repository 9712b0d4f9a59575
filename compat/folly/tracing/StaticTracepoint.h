/* SPDX-License-Identifier: MIT
 * For programs that include folly's header, with -I compat -I include. Invariant: adds nothing. */
#include "penna/folly.h"
