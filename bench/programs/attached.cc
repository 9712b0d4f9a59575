// SPDX-License-Identifier: MIT
// A target for attaching: attached THREADS [SECONDS]. All threads but the first allocate a little now and then; the
// first one allocates and frees all the time, and reads the clock each time.
//
// Prints a line every 10 ms, about the time since the previous line:
//     at=MONOTONIC_SECONDS ns=NANOSECONDS gap_us=MICROSECONDS
// where ns is the median of 16 parts, each the mean time of an allocation and its free, and gap_us the longest time
// between two clock readings: the thread did not run for that long.
// Invariant: it does the same whether it is attached to or not.
#include <algorithm>

#include "harness.h"

namespace {

void* allocate_now_and_then(void* none) {
  for (;;) {
    void* block = malloc(100);
    bench::opaque(block);
    free(block);
    usleep(1000);
  }
  return none;
}

double mean_ns(double* gap, double* last) {
  constexpr int kOperations = 500;
  const double begin = bench::now_ns(CLOCK_MONOTONIC);
  for (int i = 0; i < kOperations; ++i) {
    void* block = malloc(100);
    bench::opaque(block);
    free(block);
    if (i % 8 != 0) continue;
    const double now = bench::now_ns(CLOCK_MONOTONIC);
    *gap = std::max(*gap, now - *last);
    *last = now;
  }
  return (bench::now_ns(CLOCK_MONOTONIC) - begin) / kOperations;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr double kLine = 10e6;
  constexpr int kParts = 16;
  for (int i = 1; i < (argc > 1 ? atoi(argv[1]) : 32); ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, allocate_now_and_then, nullptr);
  }
  const double end = bench::now_ns(CLOCK_MONOTONIC) + (argc > 2 ? atof(argv[2]) : 1e9) * 1e9;
  for (double last = bench::now_ns(CLOCK_MONOTONIC), next = last; next < end;) {
    double gap = 0, parts[kParts];
    next = last + kLine;
    do
      for (double& part : parts) part = mean_ns(&gap, &last);
    while (last < next);
    std::nth_element(parts, parts + kParts / 2, parts + kParts);
    printf("at=%.6f ns=%.2f gap_us=%.1f\n", last / 1e9, parts[kParts / 2], gap / 1e3);
    fflush(stdout);
    last = bench::now_ns(CLOCK_MONOTONIC);
  }
}
