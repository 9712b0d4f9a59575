/* SPDX-License-Identifier: MIT
 * Nested functions (GNU C), which find their enclosing frame by r10: called directly, through a trampoline on the
 * stack, from threads and handlers, as tail calls; recursive, realigned, with arguments in memory, left by goto. If
 * -mfentry calls the hook, that register is between the return address and the hook's own. Without GNU C: nothing. */
#include "torture.h"

#if defined(__GNUC__) && !defined(__clang__)
#include <complex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#define APART __attribute__((noipa))

struct wide {
  long words[5];
};
typedef long (*function)(long);

APART static long call(function f, long n) { return f(n) + 1; }
APART static long pass(function f, long n) { return f(n); } /* a tail call */
APART static void keep(void* at) { __asm__ volatile("" : : "r"(at) : "memory"); }

APART static long surroundings(long n) {
  long sum = 0;
  NOINLINE long plain(long a) { return sum += a; }
  NOINLINE long in_memory(long a, long b, long c, long d, long e, long f, long g, long h) {
    return sum += a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
  }
  NOINLINE struct wide by_value(long a) { return (struct wide){{a, sum, a + sum, 3, ++sum}}; }
  NOINLINE double floating(double a, float b) { return (double)(sum += 3) + a * b; }
  NOINLINE double complex two_results(double a) { return a + (double)++sum * I; }
  NOINLINE long many(int count, ...) {
    va_list list;
    va_start(list, count);
    for (int i = 0; i < count; i++) sum += va_arg(list, int);
    va_end(list);
    return sum;
  }
  NOINLINE long realigned(long a) {
    char block[64] __attribute__((aligned(64)));
    memset(block, (char)a, sizeof block);
    keep(block);
    return sum += block[7] + (long)((uintptr_t)block % 64);
  }
  NOINLINE long variable(long a) {
    char aligned[32] __attribute__((aligned(32))), block[a + 1];
    memset(block, 1, sizeof block);
    keep(aligned), keep(block);
    return sum += block[a];
  }
  NOINLINE long large(long a) {
    char block[70000];
    keep(block);
    block[a] = 3;
    return sum += block[a];
  }
  NOINLINE long again(long a) { return a == 0 ? sum++ : again(a - 1) + (sum & 1); }
  NOINLINE long deeper(long a) {
    long own = a;
    NOINLINE long inner(long b) { return own++ + b + sum++; }
    return a == 0 ? call(inner, sum) : deeper(a - 1) + inner(a);
  }
  sum += plain(n) + in_memory(1, 2, 3, 4, 5, 6, 7, n) + by_value(n).words[2] + (long)floating(2.5, 2) +
         (long)cimag(two_results(1));
  sum += many(5, 1, 2, 3, 4, (int)n) + realigned(5) + variable(n) + large(n) + again(n % 50) + deeper(n % 9);
  return sum + call(plain, 3) + call(realigned, 4) + call(variable, 5) + pass(plain, 6) + pass(again, 7) + work(2);
}

/* Left by goto, from below a function that is unaware of it: no hook sees that. */
APART static long left_by_goto(long n) {
  __label__ out;
  long met = 0;
  NOINLINE long leave(long a) {
    met += a;
    if (a > 3) goto out;
    return met;
  }
  met += call(leave, 2);
  call(leave, n + 4);
out:
  return met;
}

APART static long left(long n) {
  long met = 0;
  jmp_buf back;
  NOINLINE long jump(long a) {
    met += a;
    longjmp(back, 1);
  }
  if (setjmp(back) == 0) call(jump, n);
  return met;
}

/* Mutual tail calls, each with an enclosing frame. */
APART static long in_turn(long n) {
  long sum = 0;
  auto long odd(long a);
  NOINLINE long even(long a) { return a == 0 ? sum : (sum += 2, odd(a - 1)); }
  NOINLINE long odd(long a) { return a == 0 ? -sum : (sum += 3, even(a - 1)); }
  return even(n);
}

APART static long handled(long n) {
  long seen = 0;
  NOINLINE void handle(int number) { seen += number + n; }
  struct sigaction action = {.sa_handler = handle}, old;
  sigaction(SIGUSR1, &action, &old);
  for (int i = 0; i < 50; i++) raise(SIGUSR1);
  sigaction(SIGUSR1, &old, NULL);
  return seen;
}

static int by_goto;

static void* body(void* number) {
  long sum = 0;
  for (long i = 0; i < 300; i++) sum += surroundings(i % 97) + left(i) + in_turn(i);
  for (long i = 0; i < 300 * by_goto; i++) sum += left_by_goto(i);
  *(long*)number = sum;
  return NULL;
}

int main(int argc, char** argv) {
  by_goto = argc > 1 && strcmp(argv[1], "goto") == 0;
  pthread_t threads[4];
  long sums[4];
  for (int i = 0; i < 4; i++)
    if (pthread_create(&threads[i], NULL, body, &sums[i]) != 0) DIE("pthread_create");
  printf("%ld\n", handled(3));
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    printf("%ld\n", sums[i]);
  }
}
#else
int main(void) { printf("%ld\n", work(3)); }
#endif
