/* SPDX-License-Identifier: MIT
 * Counts and sums its arguments and environment: for very large ones, and for those passed on by exec. */
#include "torture.h"

extern char** environ;

static unsigned long sum_of(char** list, int* count) {
  unsigned long sum = 5381;
  for (*count = 0; list[*count]; ++*count)
    for (char* c = list[*count]; *c; c++) sum = sum * 33 + (unsigned char)*c;
  return sum;
}

int main(int argc, char** argv) {
  int arguments, variables;
  unsigned long sum = sum_of(argv + 1, &arguments), environment = sum_of(environ, &variables);
  printf("%d arguments %lx, %d variables %lx\n", arguments, sum, variables, environment);
  fflush(stdout);
  if (argc > 1 && strcmp(argv[1], "again") == 0) {
    argv[1] = "last";
    execv("/proc/self/exe", argv);
    perror("execv");
    return 1;
  }
  return (int)work(5);
}
