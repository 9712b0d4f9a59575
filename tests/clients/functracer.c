/* SPDX-License-Identifier: MIT
 *
 * What functracer is tried on: functracer_target CASE. The cases are those that its users have always expected of it. */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP __attribute__((noipa)) static

static void* volatile kept;
static volatile sig_atomic_t hangups, users;
static void on_hangup(int number) { (void)number, hangups++; }
static void on_user(int number) { (void)number, users++; }

STEP void give_back(void* block) { free(block); }
STEP void* wrapper5(size_t size) { return malloc(size); }
STEP void* wrapper4(size_t size) {
  void* block = wrapper5(size);
  return *(void* volatile*)&block;
}
STEP void* wrapper3(size_t size) {
  void* block = wrapper4(size);
  return *(void* volatile*)&block;
}
STEP void* wrapper2(size_t size) {
  void* block = wrapper3(size);
  return *(void* volatile*)&block;
}
STEP void* wrapper1(size_t size) {
  void* block = wrapper2(size);
  return *(void* volatile*)&block;
}

STEP int chain(void) {
  give_back(wrapper1(123));
  return 0;
}
STEP int forks(void) {
  void* parents = malloc(123);
  if (fork() == 0) {
    free(malloc(456));
    _exit(0);
  }
  wait(NULL);
  free(malloc(789));
  free(parents);
  return 0;
}
STEP void* in_thread(void* nothing) {
  kept = malloc(456);
  return nothing;
}
STEP int threads(void) {
  pthread_t thread;
  kept = malloc(123);
  pthread_create(&thread, NULL, in_thread, NULL);
  return pthread_join(thread, NULL);
}
static char clone_stack[1 << 16] __attribute__((aligned(16)));
STEP int cloned(void* nothing) {
  (void)nothing;
  free(malloc(456));
  _exit(0);
}
STEP int clones(void) {
  kept = malloc(123);
  const int pid = clone(cloned, clone_stack + sizeof clone_stack, CLONE_FS | SIGCHLD, NULL);
  return waitpid(pid, NULL, 0) == pid ? 0 : 1;
}
STEP void nest(int level) {
  if (level == 0) return;
  void* volatile block = malloc((size_t)level * 1024);
  nest(level - 1);
  free(block);
}
STEP int recursion(void) {
  nest(100);
  return 0;
}
STEP int reallocs(void) {
  void* block = malloc(123);
  block = realloc(block, 456);
  void* volatile failed = realloc(block, PTRDIFF_MAX);
  if (failed != NULL) return 1;
  free(block);
  free(realloc(NULL, 77));
  kept = realloc(malloc(88), 0);
  block = malloc(99);
  failed = realloc(block, PTRDIFF_MAX);
  kept = block; /* stays */
  return failed != NULL;
}
STEP int families(void) {
  void* block = NULL;
  free(calloc(3, 37));
  free(memalign(64, 222));
  if (posix_memalign(&block, 64, 333) != 0) return 1;
  free(block);
  free(valloc(444));
  free(aligned_alloc(32, 544));
  return 0;
}
STEP int replaced(char** argv) {
  kept = malloc(321);
  argv[1] = (char*)"chain";
  return execv(argv[0], argv);
}
/* Reads numbers: allocates so much, frees the last with 0, and tells of the signals that it got with -1. */
STEP int asked(void) {
  char line[32];
  void* last = NULL;
  struct sigaction action = {0};
  action.sa_handler = on_user;
  signal(SIGHUP, on_hangup);
  signal(SIGUSR1, on_user);
  sigaction(SIGUSR2, &action, NULL);
  action.sa_handler = NULL;
  sigaction(SIGUSR2, NULL, &action);
  if (action.sa_handler != on_user || signal(SIGUSR1, on_user) != on_user) return 1;
  setvbuf(stdout, NULL, _IONBF, 0);
  setvbuf(stdin, NULL, _IONBF, 0);
  printf("%d\n", getpid());
  while (fgets(line, sizeof line, stdin) != NULL) {
    const int size = atoi(line);
    if (size > 0) last = wrapper1((size_t)size);
    if (size == 0) give_back(last);
    printf("%d %d\n", (int)hangups, (int)users);
  }
  return 7;
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  if (strcmp(name, "chain") == 0) return chain();
  if (strcmp(name, "forks") == 0) return forks();
  if (strcmp(name, "threads") == 0) return threads();
  if (strcmp(name, "clones") == 0) return clones();
  if (strcmp(name, "recursion") == 0) return recursion();
  if (strcmp(name, "reallocs") == 0) return reallocs();
  if (strcmp(name, "families") == 0) return families();
  if (strcmp(name, "replaced") == 0) return replaced(argv);
  if (strcmp(name, "killed") == 0) raise(SIGTERM);
  return asked();
}
