/* SPDX-License-Identifier: MIT
 * The points of values.h as a C program. */
#include "values.h"
#ifndef LIBRARY
int main(int argc, char** argv) {
  (void)argv;
  run_all(argc);
  return 0;
}
#endif
