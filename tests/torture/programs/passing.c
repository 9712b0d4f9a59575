/* SPDX-License-Identifier: MIT
 * Arguments and results in every place that the psABI defines: none may change on the way in or out. */
#include <complex.h>
#include <immintrin.h>
#include <stdarg.h>

#include "torture.h"

typedef struct {
  long a, b;
} Pair; /* rax:rdx */
typedef struct {
  double a, b;
} Reals; /* xmm0:xmm1 */
typedef struct {
  long a;
  double b;
} Mixed; /* rax, xmm0 */
typedef struct {
  long words[9];
} Big; /* in memory, by a hidden pointer */

NOINLINE static long many(long a, long b, long c, long d, long e, long f, long g, long h, long i, char j) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + work(1);
}
NOINLINE static double variadic(int count, ...) {
  va_list list;
  double sum = 0;
  va_start(list, count);
  for (int i = 0; i < count; i++)
    sum += i % 3 == 0 ? va_arg(list, int) : i % 3 == 1 ? va_arg(list, double) : (double)va_arg(list, long double);
  va_end(list);
  return sum;
}
NOINLINE static double doubles(double a, double b, double c, double d, double e, double f, double g, double h,
                               double i) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}
NOINLINE static long double wide(long double a, float b) { return a * 3 + (long double)b; }
NOINLINE static long double complex two_wide(long double a) { return a + 2 * a * (long double complex)I; }
NOINLINE static Pair pair(Pair in) { return (Pair){in.b + work(1), in.a}; }
NOINLINE static Reals reals(Reals in) { return (Reals){in.b * 2, in.a * 3}; }
NOINLINE static Mixed mixed(Mixed in) { return (Mixed){in.a * 2, in.b * 3}; }
NOINLINE static Big big(Big in, int by) {
  for (int i = 0; i < 9; i++) in.words[i] *= by;
  return in;
}
NOINLINE static __int128 wide_integer(__int128 a, unsigned char b) { return a * b; }
NOINLINE static _Bool truth(signed char a, short b) { return a > b; }

__attribute__((noinline, target("avx"))) static __m256d ymm(__m256d a, __m256d b, __m256d c) {
  return _mm256_add_pd(_mm256_mul_pd(a, b), c);
}
__attribute__((noinline, target("avx"))) static void vectors(void) {
  __m256d sum = _mm256_setzero_pd(), one = _mm256_set_pd(1, 2, 3, 4);
  for (int i = 0; i < 1000; i++) sum = ymm(sum, _mm256_set1_pd(0.5), one);
  double out[4];
  _mm256_storeu_pd(out, sum);
  printf("%f %f %f %f\n", out[0], out[1], out[2], out[3]);
}

int main(void) {
  long sum = 0;
  double real = 0;
  long double far = 0;
  for (int i = 0; i < 1000; i++) {
    sum += many(i, 1, 2, 3, 4, 5, 6, 7, 8, (char)(i % 100));
    real += variadic(7, i, 1.5, 2.5L, 3, 4.5, 5.5L, 6) + doubles(i, 1, 2, 3, 4, 5, 6, 7, 8);
    far += wide(i, 0.5f) + creall(two_wide(i)) + cimagl(two_wide(i));
    Pair p = pair((Pair){i, 5});
    Reals r = reals((Reals){i, 0.25});
    Mixed m = mixed((Mixed){i, 0.125});
    Big b = big((Big){{1, 2, 3, 4, 5, 6, 7, 8, i}}, 3);
    sum += p.a * 3 + p.b + m.a + b.words[8] + b.words[0] + (long)(wide_integer(i, 200) >> 3) + truth(3, (short)(i % 5));
    real += r.a + r.b + m.b;
  }
  printf("%ld %f %Lf\n", sum, real, far);
  if (__builtin_cpu_supports("avx")) vectors();
}
