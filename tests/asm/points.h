/* SPDX-License-Identifier: MIT
 * The program that the scripts of this folder build, in C (points.c) and C++ (points.cc).
 *   default         with points
 *   -DREFERENCE     each point replaced by what an SDT note needs: a nop that names the same operands
 *   -DLIBRARY       without main */
#ifdef REFERENCE
#include <stdint.h>
#define POINT0(p, n) __asm__ volatile("nop")
#define POINT1(p, n, a) __asm__ volatile("nop" : : "nr"(a))
#define POINT2(p, n, a, b) __asm__ volatile("nop" : : "nr"(a), "nr"(b))
#define POINT3(p, n, a, b, c) __asm__ volatile("nop" : : "nr"(a), "nr"(b), "nr"(c))
#define SPAN1 POINT1
#define LAZY1(p, n, a) ((void)0)
#define TRIGGER2(p, n, callback, a) ((void)0)
#else
#include "penna/trigger.h"
#define SPAN1 PENNA_SPAN
#define LAZY1 PENNA_EVENT_LAZY
#define TRIGGER2 PENNA_TRIGGER
#define POINT0 PENNA_EVENT
#define POINT1 PENNA_EVENT
#define POINT2 PENNA_EVENT
#define POINT3 PENNA_EVENT
#endif

#ifdef __cplusplus
extern "C" {
#endif
__attribute__((noinline)) int shape_none(int a) {
  POINT0(shape, none);
  return a + 1;
}
__attribute__((noinline)) int shape_two(int a, long b) {
  POINT2(shape, two, a, b);
  return a * 2;
}
__attribute__((noinline)) long shape_three_live(long a, long b, long c) {
  POINT3(shape, three, a, b, c);
  return a * b + c;
}
__attribute__((noinline)) double shape_vectors(double a, double b, long key) {
  POINT1(shape, vectors, key);
  return a * b - a;
}
__attribute__((noinline)) long shape_loop(const int* from, long count) {
  long sum = 0;
  for (long i = 0; i < count; i++) {
    POINT2(shape, loop, i, sum);
    sum += from[i];
  }
  return sum;
}
__attribute__((noinline)) unsigned shape_red_zone(unsigned a) {
  volatile unsigned zone[8];
  zone[a & 7] = a;
  POINT1(shape, red_zone, a);
  return zone[a & 7];
}
void shape_callback(long a);
__attribute__((noinline)) long shape_span(long a, long b) {
  SPAN1(shape, span, a);
  return a * b;
}
__attribute__((noinline)) long shape_lazy(long a, long b) {
  LAZY1(shape, lazy, a / b);
  return a + b;
}
__attribute__((noinline)) long shape_trigger(long a, long b) {
  shape_callback(a);
  TRIGGER2(shape, trigger, shape_callback, a / b);
  shape_callback(b);
  return a + b;
}
/* Nothing that the compiler knows of it may help. */
#ifdef __clang__
__attribute__((noinline))
#else
__attribute__((noipa))
#endif
void shape_callback(long a) {
  __asm__ volatile("" : : "r"(a) : "memory");
}
__attribute__((noinline)) int shape_constant(void) {
  POINT1(shape, constant, 77);
  return 3;
}

#ifndef REFERENCE
signed char v_sc = -128;
unsigned char v_uc = 255;
short v_ss = -32768;
unsigned short v_us = 65535;
int v_si = -2147483647 - 1;
unsigned v_ui = 4294967295u;
long long v_sl = -9223372036854775807ll - 1;
unsigned long long v_ul = 18446744073709551615ull;
double v_d = -1.5;
float v_f = 2.5f;
const char* v_text = "hello";
char v_array[6] = "array";

__attribute__((noinline)) void values(int flag) {
  PENNA_EVENT(values, integers, v_sc, v_uc, v_ss, v_us, v_si, v_ui, v_sl, v_ul, flag);
  PENNA_EVENT(values, constants, (signed char)-1, (unsigned char)255, (short)-2, 65535u, -1, 4294967295u, 5);
  PENNA_EVENT(values, others, v_text, v_array, "literal", v_d, v_f, &v_si, 'x', flag == 1);
  PENNA_EVENT(values, twelve, flag, flag + 1, flag + 2, flag + 3, flag + 4, flag + 5, flag + 6, flag + 7, flag + 8,
              flag + 9, flag + 10, flag + 11);
}
#endif

void run_all(int flag) {
  static const int numbers[3] = {1, 2, 3};
  shape_none(flag);
  shape_two(flag, 2);
  shape_three_live(flag, 2, 3);
  shape_vectors(flag, 2.5, 3);
  shape_loop(numbers, 3);
  shape_red_zone((unsigned)flag);
  shape_constant();
  shape_span(flag, 2);
  shape_lazy(flag, 2);
  shape_trigger(flag, 2);
#ifndef REFERENCE
  values(flag);
#endif
}
#ifdef __cplusplus
}
#endif
