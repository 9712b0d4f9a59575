/* SPDX-License-Identifier: MIT
 * Frees one block twice, which its own allocator bears, and one that it never allocated. */
#include <stdio.h>
#include <stdlib.h>

#include "penna/alloc.h"

static char memory[64];

__attribute__((noinline)) static void* take(void) {
  PENNA_POOL_ALLOC("slots", memory, sizeof memory);
  return memory;
}
__attribute__((noinline)) static void give_back(void* block) { PENNA_POOL_FREE("slots", block); }
__attribute__((noinline)) static void give_back_again(void* block) { PENNA_POOL_FREE("slots", block); }

int main(void) {
  void* block = take();
  give_back(block);
  give_back_again(block);
  give_back(memory + 32);
  puts("done");
  return 0;
}
