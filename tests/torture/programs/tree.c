/* SPDX-License-Identifier: MIT
 * A tree of processes: tree WAY DEPTH starts two copies of itself with DEPTH - 1, waits for each, passes their status
 * up. */
#include <spawn.h>

#include "torture.h"

extern char** environ;

static int start(const char* way, char** argv) {
  pid_t pid = -1;
  if (strcmp(way, "spawn") == 0) return posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ) ? -1 : pid;
  if (strcmp(way, "clean-env") == 0) { /* no variable of the parent is passed on */
    char* empty[] = {NULL};
    return posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, empty) ? -1 : pid;
  }
  pid = strcmp(way, "vfork") == 0 ? vfork() : fork();
  if (pid != 0) return pid;
  if (strcmp(way, "fork-only") == 0) return 0;
  if (strcmp(way, "execle") == 0) execle("/proc/self/exe", argv[0], argv[1], argv[2], NULL, environ);
  if (strcmp(way, "execlp") == 0) execlp("/proc/self/exe", argv[0], argv[1], argv[2], NULL);
  execv("/proc/self/exe", argv);
  _exit(98);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  int depth = atoi(argv[2]), sum = 0;
  char text[12], quoted[300];
again:
  printf("depth %d: %ld\n", depth, work(depth * 5));
  fflush(stdout);
  snprintf(text, sizeof text, "%d", depth - 1);
  for (int child = 0; depth > 0 && child < 2; child++) {
    int status = -1;
    if (strcmp(argv[1], "system") == 0) {
      snprintf(quoted, sizeof quoted, "'%s' system %s", argv[0], text);
      status = system(quoted);
    } else if (strcmp(argv[1], "popen") == 0) {
      snprintf(quoted, sizeof quoted, "'%s' popen %s", argv[0], text);
      FILE* pipe = popen(quoted, "r");
      while (pipe && fgets(quoted, sizeof quoted, pipe)) printf("  %s", quoted);
      status = pipe ? pclose(pipe) : -1;
    } else {
      pid_t pid = start(argv[1], (char*[]){argv[0], argv[1], text, NULL});
      if (pid == 0) {
        depth--;
        goto again;
      }
      if (waitpid(pid, &status, 0) != pid) DIE("waitpid");
    }
    sum += WIFEXITED(status) ? WEXITSTATUS(status) : 50;
  }
  printf("depth %d: children gave %d\n", depth, sum);
  return depth == 0 ? 1 : sum;
}
