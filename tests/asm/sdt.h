/* SPDX-License-Identifier: MIT
 * The program that sdt.py builds, in C (sdt.c) and C++ (sdt.cc), by folly's names and ours. It prints what a tool would look
 * at, then for each byte on its standard input whether the semaphore is up.
 *   -DUNIT_TWO   the other translation unit */
#include <stdio.h>

#include "penna/folly.h"

struct three_words {
  long words[3];
};

FOLLY_SDT_DECLARE_SEMAPHORE(sdt, guarded);

#ifdef __cplusplus
extern "C" {
#endif
void other_unit(int value);

__attribute__((always_inline)) static inline void always_inlined(int value) { PENNA_SDT(sdt, inlined, value); }

#ifdef UNIT_TWO
FOLLY_SDT_DEFINE_SEMAPHORE(sdt, guarded)

void other_unit(int value) {
  always_inlined(value);
  if (FOLLY_SDT_IS_ENABLED(sdt, guarded)) FOLLY_SDT_WITH_SEMAPHORE(sdt, guarded, value);
}
#else
int marker; /* its address tells where the program was loaded */
static int evaluated;

int main(int argc, char** argv) {
  int array[5] = {1, 2, 3, 4, 5};
  short s = (short)argc;
  unsigned u = 4294967295u;
  char c = 'c';
  unsigned char uc = 255;
  long l = -1;
  float f = 1.5f;
  double d = -2.5;
  struct three_words whole = {{1, 2, 3}};
  (void)argv;
  (void)s;
  (void)u;
  (void)c;
  (void)uc;
  (void)l;
  (void)f;
  (void)d;
  (void)array;
  (void)whole;
  FOLLY_SDT(sdt, empty);
  FOLLY_SDT(sdt, array, array, sizeof array / sizeof array[0]);
  FOLLY_SDT(sdt, pointers, &argc, argv, "literal", argv == 0);
  FOLLY_SDT(sdt, mixed, argc, u, c, uc, s, l, f, d, 2, -3, 'x', argc == 1);
  FOLLY_SDT(sdt, whole, whole, argc);
  PENNA_SDT(sdt, once, ++evaluated);
  PENNA_SDT(7, 1000, argc);
  if (argc == 1)
    PENNA_SDT(sdt, branch_then, argc);
  else
    PENNA_SDT(sdt, branch_else, argc);
  always_inlined(argc);
  printf("evaluated %d\n", evaluated);
#if FOLLY_HAVE_SDT
  printf("semaphore %p marker %p\n", (void*)&FOLLY_SDT_SEMAPHORE(sdt, guarded), (void*)&marker);
#endif
  fflush(stdout);
  for (int byte = getchar(); byte != EOF; byte = getchar()) {
    printf("%s\n", FOLLY_SDT_IS_ENABLED(sdt, guarded) ? "on" : "off");
    fflush(stdout);
    other_unit(byte);
  }
  return 0;
}
#endif
#ifdef __cplusplus
}
#endif
