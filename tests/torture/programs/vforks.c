/* SPDX-License-Identifier: MIT
 * vfork in a recorded function: the child runs on the parent's stack, calls functions there, and exits or execs. */
#include "torture.h"

NOINLINE static long in_child(int depth) { return depth == 0 ? 3 : in_child(depth - 1) + 1; }

NOINLINE static int child_that_ends(int depth) {
  int status = -1;
  const pid_t pid = vfork();
  if (pid == 0) _exit((int)in_child(depth));
  if (pid < 0 || waitpid(pid, &status, 0) != pid) DIE("vfork");
  return WEXITSTATUS(status);
}

NOINLINE static int child_that_executes(void) {
  int status = -1;
  const pid_t pid = vfork();
  if (pid == 0) {
    in_child(4);
    execl("/bin/true", "true", (char*)NULL);
    _exit(9);
  }
  if (pid < 0 || waitpid(pid, &status, 0) != pid) DIE("vfork");
  return WEXITSTATUS(status);
}

int main(void) {
  long sum = 0;
  for (int i = 0; i < 200; i++) sum += child_that_ends(i % 9) + (i % 10 == 0 ? child_that_executes() : 0) + work(2);
  printf("%ld\n", sum);
}
