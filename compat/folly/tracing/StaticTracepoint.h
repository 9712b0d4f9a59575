/* SPDX-License-Identifier: MIT
 * As programs of folly include it, with -I compat -I include. Invariant: nothing of its own. */
#include "penna/folly.h"
