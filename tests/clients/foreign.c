/* SPDX-License-Identifier: MIT
 * Probes of <sys/sdt.h>, in a program that runs while tools come and go. For each line of its input, a number: passes them so many
 * times, then says the semaphore of `guarded`, and a sum that a lost register would change.
 *   -DPROVIDER=p   the provider of all of them */
#define _SDT_HAS_SEMAPHORES 1
#include <stdio.h>
#include <sys/sdt.h>

#ifdef __clang__
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments" /* of sys/sdt.h */
#if __clang_major__ >= 19
#pragma clang diagnostic ignored "-Wc23-extensions" /* its new name */
#endif
#endif

#define JOIN_(a, b) a##_##b##_semaphore
#define JOIN(a, b) JOIN_(a, b)
unsigned short JOIN(PROVIDER, guarded) __attribute__((section(".probes")));
unsigned short JOIN(PROVIDER, hit) __attribute__((section(".probes")));

static volatile long guarded;

__attribute__((noinline)) static long pass(long i, long sum) {
  if (__builtin_expect(JOIN(PROVIDER, guarded) != 0, 0)) {
    STAP_PROBE1(PROVIDER, guarded, i);
    guarded = guarded + i;
  }
  STAP_PROBE2(PROVIDER, hit, i, (int)sum);
  return sum * 31 + i;
}

int main(void) {
  for (long times; scanf("%ld", &times) == 1;) {
    long sum = 7;
    for (long i = 0; i < times; i++) sum = pass(i, sum);
    printf("%d %ld\n", JOIN(PROVIDER, guarded), sum);
    fflush(stdout);
  }
  return 0;
}
