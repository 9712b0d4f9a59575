/* SPDX-License-Identifier: MIT
 * Dies by the given signal, from a real cause if possible; in a second thread with argv[2]. */
#include <alloca.h>
#include <sys/resource.h>

#include "torture.h"

static const char* name;

static void* die(void* zero) {
  work(10);
  if (strcmp(name, "SEGV") == 0) *(volatile int*)zero = 1;
  if (strcmp(name, "FPE") == 0) {
    volatile int nought = zero != NULL;
    printf("%d\n", 100 / nought);
  }
  if (strcmp(name, "ABRT") == 0) abort();
  if (strcmp(name, "ILL") == 0) __builtin_trap();
  if (strcmp(name, "TRAP") == 0) __asm__ volatile("int3");
  if (strcmp(name, "KILL") == 0) kill(getpid(), SIGKILL);
  if (strcmp(name, "TERM") == 0) kill(getpid(), SIGTERM);
  if (strcmp(name, "INT") == 0) kill(getpid(), SIGINT);
  if (strcmp(name, "HUP") == 0) kill(getpid(), SIGHUP);
  if (strcmp(name, "PIPE") == 0) raise(SIGPIPE);
  if (strcmp(name, "USR1") == 0) raise(SIGUSR1);
  if (strcmp(name, "OVERFLOW") == 0) { /* the stack's end: a SIGSEGV without a stack to handle it on */
    for (;;) ((volatile char*)alloca(4096))[0] = 1;
  }
  for (;;) pause();
  return NULL;
}

int main(int argc, char** argv) {
  name = argc > 1 ? argv[1] : "SEGV";
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  puts("about to die");
  fflush(stdout);
  pthread_t thread;
  if (argc > 2 && pthread_create(&thread, NULL, die, NULL) == 0) pthread_join(thread, NULL);
  die(NULL);
}
