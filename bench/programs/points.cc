// SPDX-License-Identifier: MIT
// A static tracepoint in a loop, with two integers, or (third argument "text") with a string of 32 bytes: one source, five
// programs, so that the loop around it is the same.
//
// BENCH_POINT=0 none (the loop alone), 1 a 5-byte nop (the limit of a disabled point), 2 Penna, 3 LTTng-UST, 4 systemtap's
// sdt.h.
#include <cstring>

#include "harness.h"

#if BENCH_POINT == 2
#include "penna/point.h"
#elif BENCH_POINT == 3
#include "lttng_point.h"
#elif BENCH_POINT == 4
#include <sys/sdt.h>
#endif

namespace {

BENCH_PLAIN long integers(long iterations, int) {
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
#elif BENCH_POINT == 4
    DTRACE_PROBE2(bench, pair, low, whole);
#endif
  }
  return iterations;
}

BENCH_PLAIN long text(long iterations, int) {
  for (long i = 0; i < iterations; ++i) {
    const char* line = "thirty-two characters of a text.";
    bench::opaque(line);
#if BENCH_POINT == 1
    asm volatile(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00");
#elif BENCH_POINT == 2
    PENNA_EVENT(bench, text, line);
#elif BENCH_POINT == 3
    tracepoint(penna_bench, text, line);
#elif BENCH_POINT == 4
    DTRACE_PROBE1(bench, text, line);
#endif
  }
  return iterations;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run(argc, argv, argc > 3 && strcmp(argv[3], "text") == 0 ? text : integers);
}
