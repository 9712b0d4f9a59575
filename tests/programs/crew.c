// SPDX-License-Identifier: MIT
// What several processes allocate at the same places, with sums that are known.
// ./crew: keeps 10,000 bytes; runs itself three times, one after the other (work(): 300,000 bytes, never freed, and one block of 64
// that it frees); then forks two that hold 200,000 bytes each at the same time (both()), and lets them end. So the most that
// there is at one time is 410,000, though all together ask for 1,310,000, and no process holds more than 300,000.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void* volatile kept;

__attribute__((noipa)) static void keep(size_t bytes) { kept = malloc(bytes); }
__attribute__((noipa)) static void work(void) {
  void* volatile small = malloc(64);
  kept = malloc(300000);
  free(small);
}
__attribute__((noipa)) static void both(void) { kept = malloc(200000); }

static void wait_for(int count) {
  while (count-- != 0) wait(NULL);
}

int main(int argc, char** argv) {
  (void)argc;
  if (strcmp(argv[argc - 1], "work") == 0) {
    work();
    return 0;
  }
  keep(10000);
  for (int i = 0; i < 3; ++i) {
    if (fork() == 0) {
      execl("/proc/self/exe", argv[0], "work", NULL);
      _exit(1);
    }
    wait_for(1);
  }
  int ready[2], end[2];
  char byte = 0;
  if (pipe(ready) != 0 || pipe(end) != 0) return 1;
  for (int i = 0; i < 2; ++i) {
    if (fork() != 0) continue;
    both();
    if (write(ready[1], &byte, 1) != 1 || read(end[0], &byte, 1) != 1) _exit(1);
    _exit(0);
  }
  for (int i = 0; i < 2; ++i)
    if (read(ready[0], &byte, 1) != 1) return 1;
  if (write(end[1], "ee", 2) != 2) return 1;
  wait_for(2);
  return 0;
}
