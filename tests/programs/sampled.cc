// SPDX-License-Identifier: MIT
// Allocates, in three functions and two threads, known numbers of bytes in blocks of known sizes; every other block stays.
#include <stdio.h>
#include <stdlib.h>

#include <thread>
#include <vector>

#define NOINLINE __attribute__((noinline))

static void* volatile sink;

template <class Allocate>
static void half_stays(int count, Allocate allocate) {
  for (int i = 0; i < count; ++i) {
    void* block = allocate();
    sink = block;
    if (i % 2 == 0) free(block);
  }
}
NOINLINE void small_blocks() {
  half_stays(1'000'000, [] { return malloc(48); });
}  // 48 MB
NOINLINE void medium_blocks() {
  half_stays(40'000, [] { return calloc(1, 2'000); });
}  // 80 MB
NOINLINE void large_blocks() {
  half_stays(200, [] { return realloc(nullptr, 500'000); });
}  // 100 MB

int main() {
  std::thread other(small_blocks);
  medium_blocks();
  other.join();
  large_blocks();
  puts("done");
}
