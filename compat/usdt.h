/* SPDX-License-Identifier: MIT
 * For programs that include libbpf's usdt.h, with -I compat -I include. Invariant: adds nothing. */
#include "penna/usdt.h"
