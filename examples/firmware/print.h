/* SPDX-License-Identifier: MIT
 * A minimum of printing without a library. */
#ifndef EXAMPLE_PRINT_H
#define EXAMPLE_PRINT_H

#include "machine.h"
#include "penna/event.h"

static inline void print(const char* text) {
  for (; *text != '\0'; text++) machine_put(*text);
}

static inline void print_number(const char* before, uint64_t number, const char* behind) {
  char digits[21];
  int at = 20;
  digits[at] = '\0';
  do digits[--at] = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  print(before);
  print(digits + at);
  print(behind);
}

/* The string after this one. */
static inline const char* after(const char* text) {
  while (*text++ != '\0') {
  }
  return text;
}

/* One value of a POINT record (event.h); returns where the next one is. Floats with three digits after the point. */
static inline const uint64_t* print_value(const uint64_t* value, uint32_t type) {
  if (type == PENNA_ARG_STRING) {
    uint32_t bytes = (uint32_t)*value;
    machine_put('"');
    for (uint32_t i = 0; i < bytes; i++) machine_put(((const char*)(value + 1))[i]);
    print(*value >> 32 == PENNA_STRING_CUT ? "\"..." : "\"");
    return value + 1 + (bytes + 7) / 8;
  }
  if (type == PENNA_ARG_FLOAT) {
    union {
      uint64_t bits;
      double number;
    } as = {*value};
    uint64_t thousandths = (uint64_t)(as.number * 1000 + 0.5);
    print_number("", thousandths / 1000, ".");
    print_number(thousandths % 1000 < 10 ? "00" : thousandths % 1000 < 100 ? "0" : "", thousandths % 1000, "");
  } else if (type == PENNA_ARG_BOOL) {
    print(*value != 0 ? "true" : "false");
  } else {
    print_number("", *value, "");
  }
  return value + 1;
}

#endif
