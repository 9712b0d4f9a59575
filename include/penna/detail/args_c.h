/* SPDX-License-Identifier: MIT
 *
 * args_c.h: the arguments of a point in C: their types by _Generic, their values as words.
 * Invariant: each argument is evaluated once, into penna_0, penna_1, ...; everything else uses that copy, and the type
 * of the argument before arrays decay.
 */
#ifndef PENNA_DETAIL_ARGS_C_H
#define PENNA_DETAIL_ARGS_C_H

#include "penna/arch/point.h"
#include "penna/detail/each.h"
#include "penna/point_abi.h"

/* Not static: inline functions with external linkage must not call static ones. Never emitted. */
#define PENNA_INLINE extern inline __attribute__((always_inline, gnu_inline, unused, no_instrument_function))

/* clang-format off */
/* __builtin_classify_type, which promotes a float as a variadic function does: -Wdouble-promotion warns of that. Of its
 * results (gcc's typeclass.h), 1 to 4 are integers, 5 is a pointer, 12 a struct, 13 a union. */
#define PENNA_CLASS(x) __builtin_classify_type(_Generic((x), float: 0.0, default: (x)))
/* Arrays decay. */
#define PENNA_HOLD(i, arg) __extension__ __auto_type penna_##i = PENNA_UNBOUND(arg); PENNA_DESCRIBE(i, arg)
/* In two steps, for arguments that must not be evaluated yet: first the types, then the values. */
#define PENNA_HOLD_LATER(i, arg) \
  __extension__ __typeof__(((void)0, PENNA_UNBOUND(arg))) penna_##i; PENNA_DESCRIBE(i, arg)
#define PENNA_HOLD_NOW(i, arg) penna_##i = (arg);
#define PENNA_DESCRIBE(i, arg)                                                                                  \
  enum { penna_type_##i = (int)PENNA_TYPE_OF_ARG(PENNA_UNDECAYED(arg, penna_##i), penna_##i) };

/* A bit-field's type cannot be queried; after a comma it is a value. gcc then gives it an integer type of its width,
 * which is none of C's types unless they are as wide: what it is promoted to is used or, where that changes nothing, 64
 * bits. All else stays as it is. */
#define PENNA_IS_INTEGER(x) (PENNA_CLASS(x) - 1u < 4)
#define PENNA_INTEGER(x) ((void)0, __builtin_choose_expr(PENNA_IS_INTEGER(x), x, 0))
#define PENNA_UNBOUND(arg)                                                                                      \
  __builtin_choose_expr(PENNA_IS_INTEGER(arg), PENNA_PROMOTED(PENNA_INTEGER(arg)), (arg))
#define PENNA_PROMOTED(x)                                                                                       \
  __builtin_choose_expr(PENNA_IS_OF_C(x), x,                                                                    \
  __builtin_choose_expr(PENNA_IS_OF_C(+(x)), +(x),                                                              \
  __builtin_choose_expr((__typeof__(x))-1 > 0, (unsigned long long)(x), (long long)(x))))
#define PENNA_IS_OF_C(x)                                                                                        \
  _Generic((x), _Bool: 1, char: 1, signed char: 1, short: 1, int: 1, long: 1, long long: 1, unsigned char: 1,   \
    unsigned short: 1, unsigned: 1, unsigned long: 1, unsigned long long: 1, default: sizeof(x) > 8)
/* The argument as it was written if that may be an array; otherwise its value, because it may be a bit-field. */
#define PENNA_UNDECAYED(arg, x) __builtin_choose_expr(PENNA_CLASS(x) == 5, (arg), x)

#define PENNA_TYPE_OF_ARG(arg, x)                                                                               \
  (PENNA_TYPE_OF(PENNA_PLAIN(x)) != PENNA_ARG_STRING && PENNA_IS_ARRAY(arg, x) ? (int)PENNA_ARG_ARRAY           \
                                                                               : (int)PENNA_TYPE_OF(PENNA_PLAIN(x)))
#define PENNA_TYPE_OF(x)                                                                                        \
  _Generic((x), _Bool: PENNA_ARG_BOOL, char: PENNA_ARG_CHAR,                                                    \
    signed char: PENNA_ARG_INT, short: PENNA_ARG_INT, int: PENNA_ARG_INT, long: PENNA_ARG_INT,                  \
    long long: PENNA_ARG_INT,                                                                                   \
    unsigned char: PENNA_ARG_UINT, unsigned short: PENNA_ARG_UINT, unsigned: PENNA_ARG_UINT,                    \
    unsigned long: PENNA_ARG_UINT, unsigned long long: PENNA_ARG_UINT,                                          \
    float: PENNA_ARG_FLOAT, double: PENNA_ARG_FLOAT, long double: PENNA_ARG_FLOAT,                              \
    char*: PENNA_ARG_STRING, const char*: PENNA_ARG_STRING,                                                     \
    default: PENNA_ARG_POINTER)

/* A struct or union, and a substitute where that would not compile. */
#define PENNA_IS_RECORD(x) (PENNA_CLASS(x) == 12 || PENNA_CLASS(x) == 13)
#define PENNA_PLAIN(x) __builtin_choose_expr(PENNA_IS_RECORD(x), (void*)0, x)

/* The argument was an array of scalars before it decayed to the pointer x. */
#define PENNA_DECAYED(arg, x)                                                                                   \
  (PENNA_CLASS(x) == 5 && !__builtin_types_compatible_p(__typeof__(arg), __typeof__(x)) &&          \
   !__builtin_types_compatible_p(__typeof__(arg), /* a function */                                              \
                                 __typeof__(*__builtin_choose_expr(PENNA_CLASS(x) == 5, x, (int*)0))))
#define PENNA_FIRST(arg, x) (*__builtin_choose_expr(PENNA_DECAYED(arg, x), x, (int*)0))
#define PENNA_IS_ARRAY(arg, x)                                                                                  \
  (PENNA_DECAYED(arg, x) && !PENNA_IS_RECORD(PENNA_FIRST(arg, x)) && sizeof(PENNA_FIRST(arg, x)) <= 8 &&        \
   !PENNA_DECAYED(PENNA_FIRST(arg, x), PENNA_FIRST_DECAYED(arg, x)))
#define PENNA_FIRST_DECAYED(arg, x) __extension__((void)0, PENNA_FIRST(arg, x))
#define PENNA_ELEMENT_TYPE(arg, x)                                                                              \
  (PENNA_TYPE_OF(PENNA_PLAIN(PENNA_FIRST(arg, x))) == PENNA_ARG_STRING                                          \
     ? PENNA_ARG_POINTER : PENNA_TYPE_OF(PENNA_PLAIN(PENNA_FIRST(arg, x))))

PENNA_INLINE uint64_t penna_word_int(int64_t x) { return (uint64_t)x; }
PENNA_INLINE uint64_t penna_word_uint(uint64_t x) { return x; }
PENNA_INLINE uint64_t penna_word_float(double x) {
  union { double number; uint64_t bits; } as = {x};
  return as.bits;
}
PENNA_INLINE uint64_t penna_word_float32(float x) { return penna_word_float((double)x); }
#ifdef PENNA_ARCH_NO_LONG_DOUBLE
#define penna_word_long_double penna_word_float
#else
PENNA_INLINE uint64_t penna_word_long_double(long double x) { return penna_word_float((double)x); }
#endif
PENNA_INLINE uint64_t penna_word_pointer(const volatile void* x) { return (uint64_t)(uintptr_t)x; }

/* The word in a record, for any type: the function is chosen first, then called. */
#define PENNA_WORD_OF(x)                                                                                        \
  _Generic((x), _Bool: penna_word_uint, char: penna_word_int,                                                   \
    signed char: penna_word_int, short: penna_word_int, int: penna_word_int, long: penna_word_int,              \
    long long: penna_word_int,                                                                                  \
    unsigned char: penna_word_uint, unsigned short: penna_word_uint, unsigned: penna_word_uint,                 \
    unsigned long: penna_word_uint, unsigned long long: penna_word_uint,                                        \
    float: penna_word_float32, double: penna_word_float, long double: penna_word_long_double,                     \
    default: penna_word_pointer)(x)

/* Where a string must end: at its zero, or at the end of its array. The size of an array in bytes. */
#define PENNA_LIMIT_OF(i, arg)                                                                                  \
  (penna_type_##i == (int)PENNA_ARG_ARRAY                                                                       \
     ? sizeof(__typeof__(arg)) | PENNA_ELEMENTS(PENNA_ELEMENT_TYPE(arg, penna_##i), sizeof(PENNA_FIRST(arg, penna_##i))) \
     : PENNA_TEXT_ENDS_AT_ZERO |                                                                                \
       (PENNA_DECAYED(arg, penna_##i) ? sizeof(__typeof__(arg)) : (uint64_t)PENNA_MAX_STRING + 1))

PENNA_INLINE uint64_t* penna_put_word(uint64_t* to, uint64_t word, uint64_t limit) {
  (void)limit;
  *to = word;
  return to + 1;
}
PENNA_INLINE uint64_t* penna_put_pair(uint64_t* to, uint64_t word, uint64_t limit) {
  to[0] = word;
  to[1] = limit;
  return to + 2;
}
#define PENNA_PUT(to, i, arg)                                                                                   \
  __builtin_choose_expr(PENNA_IS_PAIR(i), penna_put_pair, penna_put_word)(                                      \
      to, PENNA_WORD_OF(PENNA_PLAIN(penna_##i)), PENNA_LIMIT_OF(i, PENNA_UNDECAYED(arg, penna_##i)))
#define PENNA_IS_PAIR(i) (penna_type_##i == (int)PENNA_ARG_STRING || penna_type_##i == (int)PENNA_ARG_ARRAY)

/* What the SDT note points at: floats as their bits, structs as their address, everything else unchanged. Each branch
 * must compile for every type. */
PENNA_INLINE uint32_t penna_sdt_float(float x) {
  union { float number; uint32_t bits; } as = {x};
  return as.bits;
}
#define PENNA_SDT_VALUE(i)                                                                                      \
  __builtin_choose_expr(PENNA_IS_STRUCT(i), (const volatile void*)&penna_##i,                                   \
  __builtin_choose_expr(_Generic((penna_##i), float: 1, default: 0),                                            \
    penna_sdt_float(_Generic((penna_##i), float: (penna_##i), default: 0.0f)),                                  \
    __builtin_choose_expr(penna_type_##i == (int)PENNA_ARG_FLOAT,                                               \
      PENNA_WORD_OF(PENNA_PLAIN(penna_##i)), (penna_##i))))
#define PENNA_SDT_SIZE(i)                                                                                       \
  ((penna_type_##i == (int)PENNA_ARG_INT || (penna_type_##i == (int)PENNA_ARG_CHAR && (char)-1 < 0) ? -1 : 1) * \
   (int)sizeof(PENNA_SDT_VALUE(i)))
#define PENNA_IS_STRUCT(i) PENNA_IS_RECORD(penna_##i)
#define PENNA_STRUCT_SIZE(i) (int)sizeof(penna_##i)

/* All arguments of a site. A point in C does not record structs: pass their fields. */
#define PENNA_SITE_TYPES(n) ((uint64_t)0 PENNA_EACH_OF(n, PENNA_TYPE_BITS, PENNA_NOTHING))
#define PENNA_TYPE_BITS(i, unused) \
  | ((uint64_t)penna_type_##i << (4 * i)) | (uint64_t)sizeof(char[PENNA_IS_STRUCT(i) ? -1 : 1]) * 0
#define PENNA_SITE_VALUES(n) n
#define PENNA_SITE_HAS_PAIRS(n) (0 PENNA_EACH_OF(n, PENNA_OR_IS_PAIR, PENNA_NOTHING))
#define PENNA_OR_IS_PAIR(i, unused) || PENNA_IS_PAIR(i)
#define PENNA_SITE_LAYOUT(n) 0
/* clang-format on */

#endif
