/* SPDX-License-Identifier: MIT
 * See triggers_in_c.h. */
#include "core/triggers_in_c.h"

#include "penna/trigger.h"

enum { C_NUMBER = 99 };
int c_calls[3];
static void count_first(int by, const char* text) { c_calls[0] += by * (int)text[0]; }
static int count_second(void) { return ++c_calls[1]; }
static void count_third(double a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, int l) {
  c_calls[2] += (int)a + b + c + d + e + f + g + h + i + j + k + l;
}

void c_pass(int value) {
  PENNA_TRIGGER(in_c, first, count_first, value, "\001");
  PENNA_TRIGGER_ID(25, count_second);
  PENNA_TRIGGER_ID(C_NUMBER, count_third, 1.5, value, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
}
int c_enable(const char* pattern) { return penna_enable(pattern); }
int c_enable_id(unsigned id) { return penna_enable_id(id); }
int c_disable_id(unsigned id) { return penna_disable_id(id); }

static int stop_at_second(const struct penna_point_status* point, void* seen) {
  (void)point;
  return ++*(int*)seen < 2;
}
int c_list_two(void) {
  int seen = 0;
  int result = penna_list("*", stop_at_second, &seen);
  return result == seen ? seen : -1;
}
