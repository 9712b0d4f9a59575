// SPDX-License-Identifier: MIT
// ./starter DIR: for ever, starts itself in each way there is (fork and exec, vfork, posix_spawn, posix_spawnp, system, popen), checks what
// the child says and how it ends, and counts the rounds. With a file "become" there, it becomes another program: itself, by exec.
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;
static char self[4096], line[4200];

static void wrong(const char* what) {
  printf("WRONG: %s\n", what);
  exit(1);
}

static void expect_end(pid_t pid, const char* what) {
  int status = 0;
  if (pid <= 0 || waitpid(pid, &status, 0) != pid || status != 7 << 8) wrong(what);
}

static void by_fork(void) {
  char* const words[] = {self, "child", NULL};
  const pid_t pid = fork();
  if (pid == 0) {
    execv(self, words);
    _exit(127);
  }
  expect_end(pid, "fork");
}
static void by_vfork(void) {
  const pid_t pid = vfork();
  if (pid == 0) {
    execl(self, self, "child", (char*)NULL);
    _exit(127);
  }
  expect_end(pid, "vfork");
}
static void by_spawn(void) {
  char* const words[] = {self, "child", NULL};
  pid_t pid = 0;
  if (posix_spawn(&pid, self, NULL, NULL, words, environ) != 0) wrong("posix_spawn");
  expect_end(pid, "posix_spawn");
  if (posix_spawnp(&pid, self, NULL, NULL, words, environ) != 0) wrong("posix_spawnp");
  expect_end(pid, "posix_spawnp");
  if (posix_spawn(&pid, "/nowhere", NULL, NULL, words, environ) != ENOENT) wrong("posix_spawn of nothing");
}
static void by_shell(void) {
  char said[64] = "";
  snprintf(line, sizeof line, "%s child", self);
  if (system(line) != 7 << 8) wrong("system");
  snprintf(line, sizeof line, "%s child says", self);
  FILE* from = popen(line, "r");
  if (from == NULL || fgets(said, sizeof said, from) == NULL || strcmp(said, "(none)\n") != 0) wrong(said);
  if (pclose(from) != 7 << 8) wrong("popen");
}

int main(int count, char** words) {
  if (count > 1 && strcmp(words[1], "child") == 0) {
    void* volatile block = malloc(7654);
    free(block);
    if (count > 2) puts(getenv("LD_PRELOAD") != NULL ? getenv("LD_PRELOAD") : "(none)");
    return 7;
  }
  if (readlink("/proc/self/exe", self, sizeof self - 1) <= 0) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (count > 2) puts("became");
  for (long round = 0;; ++round) {
    void* volatile block = malloc(count > 2 ? 5555 : 4444);
    free(block);
    by_fork();
    by_vfork();
    by_spawn();
    by_shell();
    printf("%ld\n", round);
    if (count <= 2 && access("become", F_OK) == 0) execl(self, self, words[1], "again", (char*)NULL);
    nanosleep(&(struct timespec){0, 2000000}, NULL);
  }
}
