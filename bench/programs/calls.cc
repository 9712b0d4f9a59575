// SPDX-License-Identifier: MIT
// Function calls: fib, recursive, or, with "leaf", a function that does nothing, in a loop. Built plain and in each way
// in which compilers prepare programs for tracing; only these two functions are instrumented.
//
// Iterations of fib are rounded up to whole trees of fib(20), 21891 calls each; an operation is one call, entry and
// exit.
#include <cstring>

#include "harness.h"

__attribute__((noinline)) int fib(int n) {
  if (n < 2) return n;
  int low = fib(n - 2), high = fib(n - 1);
  bench::opaque(high);  // else gcc turns the second call into a loop without instrumentation
  return low + high;
}

__attribute__((noinline)) void leaf(long& value) { bench::opaque(value); }

namespace {

BENCH_PLAIN long leaves(long iterations, int) {
  for (long i = 0; i < iterations; ++i) leaf(i);
  return iterations;
}

constexpr int kTree = 20;
constexpr long kCallsOfTree = 21891;

BENCH_PLAIN long body(long iterations, int) {
  const long trees = (iterations + kCallsOfTree - 1) / kCallsOfTree;
  for (long i = 0; i < trees; ++i) {
    int n = kTree;
    bench::opaque(n);
    int result = fib(n);
    bench::opaque(result);
  }
  return trees * kCallsOfTree;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, argc > 3 && strcmp(argv[3], "leaf") == 0 ? leaves : body);
}
