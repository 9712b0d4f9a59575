// SPDX-License-Identifier: MIT
// A shared library: exported and hidden functions, an IFUNC, a PLT call, exported data.
#include <stdlib.h>
#include <string.h>

int exported_table[8];
static int hidden_count;

__attribute__((noinline)) static int hidden_helper(int x) {
  hidden_count += x;
  return hidden_count;
}
int exported_function(int x) { return hidden_helper(x) + (int)strlen(getenv("PATH")); }

static int chosen_fast(int x) { return x + 1; }
static int (*resolve_chosen(void))(int) { return chosen_fast; }
int chosen(int x) __attribute__((ifunc("resolve_chosen")));
