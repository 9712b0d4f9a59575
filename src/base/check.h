// SPDX-License-Identifier: MIT
// PENNA_CHECK: bugs in Penna stop the tool, also in release builds; input errors never do (they are Results).
#pragma once

#include <cstdio>
#include <cstdlib>

#define PENNA_CHECK(condition)                                                                         \
  do {                                                                                                 \
    if (__builtin_expect(!(condition), 0)) {                                                           \
      std::fprintf(stderr, "penna: bug at %s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                                    \
    }                                                                                                  \
  } while (0)
