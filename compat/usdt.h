/* SPDX-License-Identifier: MIT
 * As programs of libbpf's usdt.h include it, with -I compat -I include. Invariant: nothing of its own. */
#include "penna/usdt.h"
