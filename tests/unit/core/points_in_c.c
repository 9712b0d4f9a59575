/* SPDX-License-Identifier: MIT
 * See points_in_c.h. */
#include "core/points_in_c.h"

#include <limits.h>

#include "penna/point.h"

char c_array[8] = {'e', 'i', 'g', 'h', 't', 'c', 'h', 'r'}; /* no zero at its end */
int c_line_of_nothing = __LINE__ + 1;
void c_nothing(void) { PENNA_EVENT(in_c, nothing); }

void c_integers(void) {
  signed char a = SCHAR_MIN;
  unsigned char b = UCHAR_MAX;
  short c = SHRT_MIN;
  unsigned short d = USHRT_MAX;
  const int e = INT_MIN;
  unsigned f = UINT_MAX;
  long g = LONG_MIN;
  unsigned long h = ULONG_MAX;
  long long i = LLONG_MAX;
  volatile unsigned long long j = 1;
  enum c_colour k = C_RED;
  _Bool l = 1;
  PENNA_EVENT(in_c, integers, a, b, c, d, e, f, g, h, i, j, k, l);
}

void c_others(const char* text, void* address) {
  char letter = 'x';
  float half = 0.5f;
  double third = -1.0 / 3;
  long double big = 1e30L;
  const int numbers[3] = {1, 2, 3};
  PENNA_EVENT(in_c, others, letter, half, third, big, address, numbers, &c_twelve == 0, (const unsigned char*)text,
              (enum c_colour)C_BLUE);
}

static const struct {
  int sign : 3;
  unsigned field : 5;
  unsigned long wide : 40;
  long long deep : 40;
  _Bool truth : 1;
  enum c_colour colour : 4;
  unsigned char byte : 8;
  unsigned whole : 32;
  short number;
} bits = {-2, 21, 1ul << 39, -5, 1, C_BLUE, 200, UINT_MAX, -9};
void c_bits(void) {
  PENNA_EVENT(in_c, bits, bits.sign, bits.field, bits.wide, bits.deep, bits.truth, bits.colour, bits.byte, bits.whole,
              bits.number);
}
void c_lazy_bits(void) { PENNA_EVENT_LAZY(in_c, lazy_bits, bits.sign, bits.wide, bits.whole); }

#define c_seven 7
#define c_two_values 1, 2
#define c_product(a, b) ((a) * (b))
void c_names(int a) {
  PENNA_EVENT(in_c, names, c_seven, c_product(a, 3), PENNA_ARG(c_seven, a), "a, \")\"", (char)',', c_product((2), 3));
}
void c_values(void) { PENNA_EVENT(in_c, values, c_two_values); }

void c_arrays(void) {
  static const short shorts[3] = {-1, 2, -32768};
  static double doubles[2] = {0.5, -2};
  static const char* const names[2] = {"one", "two"};
  static unsigned char bytes[300];
  struct {
    int number;
  } records[2] = {{1}, {2}};
  int table[2][3] = {{1}};
  for (int i = 0; i < 300; i++) bytes[i] = (unsigned char)i;
  PENNA_EVENT(in_c, arrays, shorts, PENNA_ARG(halves, doubles), names, bytes, records, table, 7);
}

int c_lazy(int* evaluated, const char* text) {
  int before = *evaluated;
  PENNA_EVENT_LAZY(in_c, lazy, ++*evaluated, PENNA_ARG(what, text), c_array);
  return *evaluated - before;
}

void c_strings(const char* text, char* writable) {
  PENNA_EVENT(in_c, strings, text, 42, writable, "a literal", c_array);
}

void c_twelve(int first) {
  PENNA_EVENT(in_c, twelve, first, first + 1, first + 2, first + 3, first + 4, first + 5, first + 6, first + 7,
              first + 8, first + 9, first + 10, first + 11);
}

int c_spans(int way) {
  PENNA_EVENT(in_c, before_spans);
  PENNA_SPAN(in_c, outer, way, "text");
  for (int i = 0; i < 3; i++) {
    PENNA_SPAN(in_c, loop, PENNA_ARG(round, i));
    if (way == 1 && i == 1) break;
    if (way == 2 && i == 1) return -1;
    if (way == 3 && i == 1) goto out;
    PENNA_EVENT(in_c, in_loop, i);
  }
out:
  return way;
}

int c_evaluations(void) {
  int count = 0;
  PENNA_EVENT(in_c, evaluations, ++count);
  return count;
}
