/* SPDX-License-Identifier: MIT
 * The library for dlopen_loop: with its own constructor, destructor, points and allocations. */
#include "torture.h"

static char* kept;

__attribute__((constructor)) static void begin(void) { kept = strdup("loaded"); }
__attribute__((destructor)) static void end(void) { free(kept); }

long plugin_call(int depth) { return work(depth) + (long)strlen(kept); }
