/* SPDX-License-Identifier: MIT
 * The program that the tests of this folder build, in C (values.c) and C++ (values.cc), and show to gdb, bpftrace and perf:
 * points of every kind, with arguments of every type, first with the smallest values, then with the greatest.
 *   -DPROVIDER=p   the provider of all points: perf's events are the whole machine's
 *   -DLIBRARY      without main */
#include "penna/point.h"

PENNA_SDT_DECLARE_SEMAPHORE(PROVIDER, counted);

#ifdef __cplusplus
extern "C" {
#endif
enum level { LOW = -2147483647 - 1, HIGH = 2147483647 };

const signed char v_s8[2] = {-128, 127};
const unsigned char v_u8[2] = {0, 255};
const short v_s16[2] = {-32768, 32767};
const unsigned short v_u16[2] = {0, 65535};
const int v_s32[2] = {-2147483647 - 1, 2147483647};
const unsigned v_u32[2] = {0, 4294967295u};
const long long v_s64[2] = {-9223372036854775807ll - 1, 9223372036854775807ll};
const unsigned long long v_u64[2] = {0, 18446744073709551615ull};
const char* const v_text[2] = {"", "some text"};
const double v_double[2] = {-1.5, 1.7976931348623157e308};
const float v_float[2] = {-1.5f, 3.40282347e38f};
const enum level v_level[2] = {LOW, HIGH};

__attribute__((noinline)) void pass_points(int i) {
  PENNA_EVENT(PROVIDER, none);
  PENNA_EVENT(PROVIDER, narrow, v_s8[i], v_u8[i], v_s16[i], v_u16[i]);
  PENNA_EVENT(PROVIDER, wide, v_s32[i], v_u32[i], v_s64[i], v_u64[i]);
  PENNA_EVENT(PROVIDER, others, v_text[i], v_double[i], v_float[i], v_level[i], i == 1, &v_s32[i]);
  PENNA_EVENT(PROVIDER, twelve, i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7, i + 8, i + 9, i + 10, i + 11);
  PENNA_SDT(PROVIDER, plain, v_s8[i], v_u64[i], v_text[i]);
  if (PENNA_SDT_IS_ENABLED(PROVIDER, counted)) PENNA_SDT_WITH_SEMAPHORE(PROVIDER, counted, v_s16[i]);
  PENNA_EVENT_LAZY(PROVIDER, lazy, v_s32[i]);
  PENNA_SPAN(PROVIDER, scope, i);
}

void run_all(int flag) {
  pass_points(flag - 1);
  pass_points(flag);
}
#ifdef __cplusplus
}
#endif
