// SPDX-License-Identifier: MIT
// A static tracepoint with two integers in a loop: one source, four programs, so that the loop around it is the same.
//
// BENCH_POINT=0 none (the loop alone), 1 a 5-byte nop (the limit of a disabled point), 2 Penna, 3 LTTng-UST.
#include "harness.h"

#if BENCH_POINT == 2
#include "penna/point.h"
#elif BENCH_POINT == 3
#include "lttng_point.h"
#endif

namespace {

BENCH_PLAIN long body(long iterations, int) {
  for (long i = 0; i < iterations; ++i) {
    int low = static_cast<int>(i);
    long whole = i;
    bench::opaque(low);
    bench::opaque(whole);
#if BENCH_POINT == 1
    asm volatile(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00");
#elif BENCH_POINT == 2
    PENNA_EVENT(bench, pair, low, whole);
#elif BENCH_POINT == 3
    tracepoint(penna_bench, pair, low, whole);
#endif
  }
  return iterations;
}

}  // namespace

int main(int argc, char** argv) { return bench::run(argc, argv, body); }
