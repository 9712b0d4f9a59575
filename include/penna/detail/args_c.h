/* SPDX-License-Identifier: MIT
 *
 * args_c.h: the arguments of a point in C: their types by _Generic, their values as words.
 * Invariant: each argument is evaluated once, into penna_0, penna_1, ...; everything else looks at that copy.
 */
#ifndef PENNA_DETAIL_ARGS_C_H
#define PENNA_DETAIL_ARGS_C_H

#include "penna/point_abi.h"

/* Not static: inline functions with external linkage may not call those. Never emitted. */
#define PENNA_INLINE extern inline __attribute__((always_inline, gnu_inline, unused, no_instrument_function))

/* Arrays decay. A bit-field has no type of its own in C: write a cast, or + before it. */
#define PENNA_HOLD(i, arg) __extension__ __auto_type penna_##i = (arg);

/* clang-format off */
#define PENNA_TYPE_OF(x)                                                                                        \
  _Generic((x), _Bool: PENNA_ARG_BOOL, char: PENNA_ARG_CHAR,                                                    \
    signed char: PENNA_ARG_INT, short: PENNA_ARG_INT, int: PENNA_ARG_INT, long: PENNA_ARG_INT,                  \
    long long: PENNA_ARG_INT,                                                                                   \
    unsigned char: PENNA_ARG_UINT, unsigned short: PENNA_ARG_UINT, unsigned: PENNA_ARG_UINT,                    \
    unsigned long: PENNA_ARG_UINT, unsigned long long: PENNA_ARG_UINT,                                          \
    float: PENNA_ARG_FLOAT, double: PENNA_ARG_FLOAT, long double: PENNA_ARG_FLOAT,                              \
    char*: PENNA_ARG_STRING, const char*: PENNA_ARG_STRING,                                                     \
    default: PENNA_ARG_POINTER)

PENNA_INLINE uint64_t penna_word_int(int64_t x) { return (uint64_t)x; }
PENNA_INLINE uint64_t penna_word_uint(uint64_t x) { return x; }
PENNA_INLINE uint64_t penna_word_float(double x) {
  union { double number; uint64_t bits; } as = {x};
  return as.bits;
}
PENNA_INLINE uint64_t penna_word_long_double(long double x) { return penna_word_float((double)x); }
PENNA_INLINE uint64_t penna_word_pointer(const volatile void* x) { return (uint64_t)(uintptr_t)x; }

/* The word of a record, whatever the type: the function is chosen, then called. */
#define PENNA_WORD_OF(x)                                                                                        \
  _Generic((x), _Bool: penna_word_uint, char: penna_word_int,                                                   \
    signed char: penna_word_int, short: penna_word_int, int: penna_word_int, long: penna_word_int,              \
    long long: penna_word_int,                                                                                  \
    unsigned char: penna_word_uint, unsigned short: penna_word_uint, unsigned: penna_word_uint,                 \
    unsigned long: penna_word_uint, unsigned long long: penna_word_uint,                                        \
    float: penna_word_float, double: penna_word_float, long double: penna_word_long_double,                           \
    default: penna_word_pointer)(x)

/* Where a string must end: at its zero, and for an array at its end. */
#define PENNA_LIMIT_OF(arg)                                                                                     \
  (PENNA_TEXT_ENDS_AT_ZERO |                                                                                    \
   (__builtin_types_compatible_p(__typeof__(arg), char*) || __builtin_types_compatible_p(__typeof__(arg), const char*) \
      ? PENNA_MAX_STRING + 1 : sizeof(__typeof__(arg))))

PENNA_INLINE uint64_t* penna_put_word(uint64_t* to, uint64_t word, uint64_t limit) {
  (void)limit;
  *to = word;
  return to + 1;
}
PENNA_INLINE uint64_t* penna_put_text(uint64_t* to, uint64_t word, uint64_t limit) {
  to[0] = word;
  to[1] = limit;
  return to + 2;
}
#define PENNA_PUT(to, x, arg)                                                                                   \
  _Generic((x), char*: penna_put_text, const char*: penna_put_text, default: penna_put_word)(                   \
      to, PENNA_WORD_OF(x), PENNA_LIMIT_OF(arg))

/* What the SDT note points at: floats as their bits, all else as it is. Each branch must compile for every type. */
PENNA_INLINE uint32_t penna_sdt_float(float x) {
  union { float number; uint32_t bits; } as = {x};
  return as.bits;
}
#define PENNA_SDT_VALUE(x)                                                                                      \
  __builtin_choose_expr(_Generic((x), float: 1, default: 0),                                                    \
    penna_sdt_float(_Generic((x), float: (x), default: 0.0f)),                                                  \
    __builtin_choose_expr(PENNA_TYPE_OF(x) == PENNA_ARG_FLOAT,                                                  \
      PENNA_WORD_OF(x), (x)))
#define PENNA_SDT_SIZE(x)                                                                                       \
  ((PENNA_TYPE_OF(x) == PENNA_ARG_INT || (PENNA_TYPE_OF(x) == PENNA_ARG_CHAR && (char)-1 < 0) ? -1 : 1) *       \
   (int)sizeof(PENNA_SDT_VALUE(x)))
/* clang-format on */

#endif
