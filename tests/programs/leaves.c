// SPDX-License-Identifier: MIT
// Ends as soon as it has started another program (by vfork), which outlives it.
#include <spawn.h>
#include <stddef.h>
#include <unistd.h>

int main(void) {
  char* words[] = {"true", NULL};
  pid_t child;
  return posix_spawn(&child, "/bin/true", NULL, NULL, words, environ);
}
