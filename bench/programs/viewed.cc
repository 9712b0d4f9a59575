// SPDX-License-Identifier: MIT
// A server at work, for bench/page_lag.mjs: an operation computes for some 20 us, and is a call, a block and a point.
//
// Why not the other programs: they do nothing but what is recorded, which nobody looks at while it happens.
#include "harness.h"
#include "penna/point.h"

__attribute__((noinline)) long serve(long number) {
  char* block = static_cast<char*>(malloc(static_cast<size_t>(64 + number % 64)));
  bench::opaque(block);
  long sum = number;
  for (int i = 0; i < 20'000; ++i) {
    sum = sum * 31 + i;
    bench::opaque(sum);
  }
  free(block);
  return sum;
}

namespace {

BENCH_PLAIN long body(long iterations, int) {
  for (long i = 0; i < iterations; ++i) {
    long result = serve(i);
    bench::opaque(result);
    PENNA_EVENT(bench, served, i);
  }
  return iterations;
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, body); }
