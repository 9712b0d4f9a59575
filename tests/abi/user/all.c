/* SPDX-License-Identifier: MIT
 * In C, besides: what only C writes. */
#include "all.h"

int main(int count, char** arguments) {
  penna_recorder_options options = {.size = sizeof options, .file = "user.penna", .block = 1};
  (void)options;
  return count > 1 ? user_all(arguments[1]) : 0;
}
