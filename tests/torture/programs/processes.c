/* SPDX-License-Identifier: MIT
 * argv[1] short processes, one after the other: half fork only, half fork and exec. Prints the sum of their statuses. */
#include "torture.h"

int main(int argc, char** argv) {
  if (argc > 2) return atoi(argv[2]);
  long sum = 0, count = argc > 1 ? atol(argv[1]) : 100;
  for (long i = 0; i < count; i++) {
    char text[12];
    snprintf(text, sizeof text, "%ld", i % 100);
    pid_t pid = i % 2 ? vfork() : fork();
    if (pid < 0) DIE("fork");
    if (pid == 0 && i % 2 == 0) _exit((int)(i % 100));
    if (pid == 0) {
      execl("/proc/self/exe", argv[0], "child", text, NULL);
      _exit(98);
    }
    int status;
    if (waitpid(pid, &status, 0) != pid) DIE("waitpid");
    sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
  }
  printf("%ld processes, sum %ld\n", count, sum);
}
