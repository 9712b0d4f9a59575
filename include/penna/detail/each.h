/* SPDX-License-Identifier: MIT
 *
 * each.h: the preprocessor's loops: counts the arguments of a point and does something with each of them.
 * Invariant: every list ends with one argument more than is used (`~`, or what PENNA_LAST selects), so that no variadic
 * list is ever empty.
 */
#ifndef PENNA_DETAIL_EACH_H
#define PENNA_DETAIL_EACH_H

#include "penna/detail/language.h"

#ifdef __cplusplus
#define PENNA_EXTERN_C extern "C"
#else
#define PENNA_EXTERN_C extern
#endif

#define PENNA_CONCAT_(a, b) a##b
#define PENNA_CONCAT(a, b) PENNA_CONCAT_(a, b)
#define PENNA_STRING_(x) #x
#define PENNA_STRING_OF(x) PENNA_STRING_(x)

/* clang-format off */
/* How many follow provider and name: 0 to 12. */
#define PENNA_ARG_COUNT(...) \
  PENNA_15TH(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, a_point_has_a_provider_and_a_name, ~)
#define PENNA_15TH(a, b, c, d, e, f, g, h, i, j, k, l, m, n, count, ...) count

/* PENNA_FITTING(macro, provider, name, ...): `macro` when 0 to 12 arguments follow the name, else one that says what is wrong. */
#define PENNA_FITTING(macro, ...)                                                                                    \
  PENNA_40TH(__VA_ARGS__, PENNA_TOO_MANY, PENNA_TOO_MANY, PENNA_TOO_MANY, PENNA_TOO_MANY, PENNA_TOO_MANY,            \
             PENNA_TOO_MANY, PENNA_TOO_MANY, PENNA_TOO_MANY, PENNA_TOO_MANY, PENNA_TOO_MANY, PENNA_TOO_MANY,         \
             PENNA_TOO_MANY, PENNA_TOO_MANY, PENNA_TOO_MANY, PENNA_TOO_MANY, PENNA_TOO_MANY, PENNA_TOO_MANY,         \
             PENNA_TOO_MANY, PENNA_TOO_MANY, PENNA_TOO_MANY, PENNA_TOO_MANY, PENNA_TOO_MANY, PENNA_TOO_MANY,         \
             PENNA_TOO_MANY, PENNA_TOO_MANY, macro, macro, macro, macro, macro, macro, macro, macro, macro, macro,   \
             macro, macro, macro, PENNA_TOO_FEW, ~)
#define PENNA_40TH(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee, \
                   ff, gg, hh, ii, jj, kk, ll, mm, chosen, ...) chosen
#define PENNA_TOO_MANY(...) do { PENNA_STATIC_ASSERT(0, "a point takes at most 12 arguments"); } while (0)
#define PENNA_TOO_FEW(...) do { PENNA_STATIC_ASSERT(0, "a point has a provider and a name"); } while (0)

/* PENNA_LAST(n)(a, b, ..., last): the argument after the n that are used. */
#define PENNA_LAST(n) PENNA_CONCAT(PENNA_LAST_, n)
#define PENNA_LAST_0(...)
#define PENNA_LAST_1(a, last, ...) last
#define PENNA_LAST_2(a, b, last, ...) last
#define PENNA_LAST_3(a, b, c, last, ...) last
#define PENNA_LAST_4(a, b, c, d, last, ...) last
#define PENNA_LAST_5(a, b, c, d, e, last, ...) last
#define PENNA_LAST_6(a, b, c, d, e, f, last, ...) last
#define PENNA_LAST_7(a, b, c, d, e, f, g, last, ...) last
#define PENNA_LAST_8(a, b, c, d, e, f, g, h, last, ...) last
#define PENNA_LAST_9(a, b, c, d, e, f, g, h, i, last, ...) last
#define PENNA_LAST_10(a, b, c, d, e, f, g, h, i, j, last, ...) last
#define PENNA_LAST_11(a, b, c, d, e, f, g, h, i, j, k, last, ...) last
#define PENNA_LAST_12(a, b, c, d, e, f, g, h, i, j, k, l, last, ...) last

#define PENNA_NOTHING()
#define PENNA_COMMA() ,
#define PENNA_SPACE() " "

/* PENNA_EACH(n)(m, s, a, b, ..., ~) is m(0, a) s() m(1, b) ... */
#define PENNA_EACH(n) PENNA_CONCAT(PENNA_EACH_, n)
#define PENNA_EACH_0(m, s, ...)
#define PENNA_EACH_1(m, s, a, ...) m(0, a)
#define PENNA_EACH_2(m, s, a, b, ...) m(0, a) s() m(1, b)
#define PENNA_EACH_3(m, s, a, b, c, ...) m(0, a) s() m(1, b) s() m(2, c)
#define PENNA_EACH_4(m, s, a, b, c, d, ...) m(0, a) s() m(1, b) s() m(2, c) s() m(3, d)
#define PENNA_EACH_5(m, s, a, b, c, d, e, ...) PENNA_EACH_4(m, s, a, b, c, d, ~) s() m(4, e)
#define PENNA_EACH_6(m, s, a, b, c, d, e, f, ...) PENNA_EACH_4(m, s, a, b, c, d, ~) s() m(4, e) s() m(5, f)
#define PENNA_EACH_7(m, s, a, b, c, d, e, f, g, ...) PENNA_EACH_6(m, s, a, b, c, d, e, f, ~) s() m(6, g)
#define PENNA_EACH_8(m, s, a, b, c, d, e, f, g, h, ...) \
  PENNA_EACH_6(m, s, a, b, c, d, e, f, ~) s() m(6, g) s() m(7, h)
#define PENNA_EACH_9(m, s, a, b, c, d, e, f, g, h, i, ...) \
  PENNA_EACH_8(m, s, a, b, c, d, e, f, g, h, ~) s() m(8, i)
#define PENNA_EACH_10(m, s, a, b, c, d, e, f, g, h, i, j, ...) \
  PENNA_EACH_8(m, s, a, b, c, d, e, f, g, h, ~) s() m(8, i) s() m(9, j)
#define PENNA_EACH_11(m, s, a, b, c, d, e, f, g, h, i, j, k, ...) \
  PENNA_EACH_10(m, s, a, b, c, d, e, f, g, h, i, j, ~) s() m(10, k)
#define PENNA_EACH_12(m, s, a, b, c, d, e, f, g, h, i, j, k, l, ...) \
  PENNA_EACH_10(m, s, a, b, c, d, e, f, g, h, i, j, ~) s() m(10, k) s() m(11, l)
/* If only the numbers are needed. */
#define PENNA_EACH_OF(n, m, s) PENNA_EACH(n)(m, s, ~, ~, ~, ~, ~, ~, ~, ~, ~, ~, ~, ~, ~)
/* clang-format on */

#endif
