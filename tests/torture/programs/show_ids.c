/* SPDX-License-Identifier: MIT
 * Prints its user and group IDs: used as a setuid program, and linked statically. */
#include <sys/auxv.h>

#include "torture.h"

int main(int argc, char** argv) {
  printf("real %d, effective %d, secure %lu, work %ld, arguments %d\n", getuid(), geteuid(), getauxval(AT_SECURE),
         work(10), argc);
  for (int i = 1; i < argc; i++) puts(argv[i]);
  return 6;
}
