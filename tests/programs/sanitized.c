// SPDX-License-Identifier: MIT
// ./sanitized HOW [COMMAND]: allocates and locks in two threads; then does what a sanitizer reports, or starts COMMAND in one of many ways.
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared;
static void* volatile kept;

static void* work(void* unused) {
  for (int i = 0; i < 500; ++i) {
    void* volatile block = malloc((size_t)i + 1);
    free(block);
    pthread_mutex_lock(&lock);
    ++shared;
    pthread_mutex_unlock(&lock);
  }
  return unused;
}

static void* race(void* unused) {
  ++shared;
  return unused;
}

static void in_two_threads(void* (*what)(void*)) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, what, NULL);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
}

static int start(const char* how, char* command) {
  char* const words[] = {"/bin/sh", "-c", command, NULL};
  char* const alone[] = {command, "work", NULL};
  char* const nothing[] = {"PATH=/usr/bin:/bin", NULL};
  pid_t child = -1;
  int status = -1;
  if (strcmp(how, "exec") == 0) return execv(alone[0], alone);
  if (strcmp(how, "exec_env") == 0) return execve(alone[0], alone, nothing);
  if (strcmp(how, "system") == 0) return system(command) >> 8;
  if (strcmp(how, "popen") == 0) {
    char line[256];
    FILE* from = popen(command, "r");
    while (from != NULL && fgets(line, sizeof line, from) != NULL) fputs(line, stdout);
    return pclose(from) >> 8;
  }
  if (strcmp(how, "spawn") == 0 && posix_spawn(&child, alone[0], NULL, NULL, alone, environ) != 0) return 1;
  if (strcmp(how, "spawn_env") == 0 && posix_spawnp(&child, alone[0], NULL, NULL, alone, nothing) != 0) return 1;
  if (strcmp(how, "shell") == 0 && (child = fork()) == 0) _exit(execv(words[0], words));
  waitpid(child, &status, 0);
  return status >> 8;
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "work";
  const char* const preloaded = getenv("LD_PRELOAD");
  in_two_threads(work);
  printf("%d %s\n", shared, preloaded != NULL ? preloaded : "-");
  fflush(stdout);
  if (argc > 2) return start(how, argv[2]);
  volatile char* volatile block = malloc(16);
  volatile int most = 0x7fffffff;
  if (strcmp(how, "use_after_free") == 0) {
    free((void*)block);
    return block[3];
  }
  if (strcmp(how, "overflow") == 0) block[16] = 1;
  if (strcmp(how, "double_free") == 0) free((void*)block);
  if (strcmp(how, "leak") == 0) block = NULL;
  if (strcmp(how, "race") == 0) in_two_threads(race);
  if (strcmp(how, "arithmetic") == 0) most = most + argc;
  if (strcmp(how, "uninitialised") == 0 && block[1] != 0) puts("not zero");
  free((void*)block);
  kept = malloc(8);
  return most == 0;
}
