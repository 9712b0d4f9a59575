// SPDX-License-Identifier: MIT
// See points.h.
#include "points.h"

#ifndef LIBRARY
int main(int argc, char**) {
  run_all(argc);
  return 0;
}
#endif
