// SPDX-License-Identifier: MIT
// Function calls: fib, recursive. Built plain, with -finstrument-functions, and with -pg; only fib is instrumented.
//
// Iterations are rounded up to whole trees of fib(20), 21891 calls each; an operation is one call, entry and exit.
#include "harness.h"

__attribute__((noinline)) int fib(int n) {
  if (n < 2) return n;
  int low = fib(n - 2), high = fib(n - 1);
  bench::opaque(high);  // else gcc makes a loop of the second call, where nothing is instrumented
  return low + high;
}

namespace {

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

int main(int argc, char** argv) { return bench::run(argc, argv, body); }
