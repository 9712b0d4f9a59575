// SPDX-License-Identifier: MIT
// An uncaught exception: std::terminate, then SIGABRT, with the runtime's own message.
#include <stdexcept>

#include "torture.h"

NOINLINE static void dive(int depth) {
  if (depth == 0) throw std::runtime_error("nobody catches this");
  dive(depth - 1);
  work(1);
}

int main() {
  std::puts("throwing");
  std::fflush(stdout);
  dive(10);
}
