/* SPDX-License-Identifier: MIT
 * Probes of <sys/sdt.h>, as other projects put them into their programs: arguments of all sizes wherever compilers put them, in a leaf
 * whose values lie in its red zone, in a loop, around branches, with a semaphore. Prints what it computed: a register or a flag that is
 * lost makes it another number. Usage: foreign_probes [COUNT] [LIBRARY: dlopens it, and calls its probed() as often] */
#define _SDT_HAS_SEMAPHORES 1
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <sys/wait.h>
#include <unistd.h>

unsigned short foreign_guarded_semaphore __attribute__((section(".probes")));
unsigned short foreign_sizes_semaphore __attribute__((section(".probes")));
unsigned short foreign_loop_semaphore __attribute__((section(".probes")));
unsigned short foreign_leaf_semaphore __attribute__((section(".probes")));
unsigned short foreign_flags_semaphore __attribute__((section(".probes")));
unsigned short foreign_mixed_semaphore __attribute__((section(".probes")));

struct values {
  int8_t s8;
  uint8_t u8;
  int16_t s16;
  uint16_t u16;
  int32_t s32;
  uint32_t u32;
  int64_t s64;
  uint64_t u64;
};

__attribute__((noinline)) long sizes(const struct values* v, long i) {
  STAP_PROBE8(foreign, sizes, v->s8, v->u8, v->s16, v->u16, v->s32, v->u32, v->s64, v->u64);
  return v->s8 + v->u8 + v->s16 + v->u16 + v->s32 + v->u32 + v->s64 + (long)v->u64 + i;
}

/* Enough values to be spilled; a leaf, so they lie below rsp. */
__attribute__((noinline)) long leaf(long a, long b, const long* t) {
  volatile long x[8];
  for (int i = 0; i < 8; ++i) x[i] = t[i] * a + b;
  STAP_PROBE3(foreign, leaf, a, x[3], -9);
  return x[0] + x[1] * 3 + x[2] * 5 + x[3] * 7 + x[4] * 11 + x[5] * 13 + x[6] * 17 + x[7] * 19;
}

__attribute__((noinline)) unsigned long loop(unsigned long n) {
  unsigned long hash = 5381;
  for (unsigned long i = 0; i < n; ++i) {
    hash = hash * 33 + i;
    STAP_PROBE2(foreign, loop, i, (int)(hash & 0x7f));
  }
  return hash;
}

__attribute__((noinline)) int flags(long a, long b) {
  long sum;
  int carry, over;
  __asm__ volatile(
      "mov %3, %0\n add %4, %0\n"
      "setc %b1\n seto %b2\n movzbl %b1, %1\n movzbl %b2, %2\n"
      : "=&r"(sum), "=&q"(carry), "=&q"(over)
      : "r"(a), "r"(b)
      : "cc");
  STAP_PROBE2(foreign, flags, carry, over);
  return carry * 2 + over + (int)(sum & 4);
}

__attribute__((noinline)) long guarded(long i) {
  if (__builtin_expect(foreign_guarded_semaphore != 0, 0)) STAP_PROBE1(foreign, guarded, i);
  return i ^ 3;
}

__attribute__((noinline)) long mixed(long a, int b, short c, char d, const char* text, double real) {
  long r = a * b - c;
  STAP_PROBE6(foreign, mixed, a, b, c, d, text, &real);
  return r + d + text[0] + (long)real;
}

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 1000;
  const struct values v = {-8, 200, -1600, 60000, -320000, 4000000000u, -64000000000, UINT64_MAX - 5};
  const long table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
  long (*probed)(long) = NULL;
  if (argc > 2) {
    void* library = dlopen(argv[2], RTLD_NOW);
    if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 2;
    probed = (long (*)(long))dlsym(library, "probed");
  }
  unsigned long sum = 0;
  for (long i = 0; i < count; ++i) {
    sum = sum * 31 + (unsigned long)sizes(&v, i);
    sum = sum * 31 + (unsigned long)leaf(i, -i, table);
    sum = sum * 31 + (unsigned long)flags(i % 2 ? INT64_MAX : -1, i % 3 ? 1 : -i);
    sum = sum * 31 + (unsigned long)guarded(i);
    sum = sum * 31 + (unsigned long)mixed(i, 7, -3, 'x', "text", 2.5);
    if (probed != NULL) sum = sum * 31 + (unsigned long)probed(i);
  }
  sum = sum * 31 + loop((unsigned long)count);
  printf("%lx\n", sum);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) _exit((int)(guarded(count) & 1));
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status) == ((count ^ 3) & 1) ? 0 : 1;
}
