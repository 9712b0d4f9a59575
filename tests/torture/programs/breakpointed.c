// SPDX-License-Identifier: MIT
// Checks its own sums forever, using no library that a static program lacks: calls, blocks, a mutex, longjmp, children
// by fork and vfork, threads that start and end, and, with "signals", SIGALRM a thousand times a second. It is attached
// to by breakpoints, and detached from, meanwhile (attach.py).
//
// Prints a dot per round; "WRONG ..." and exit status 3 if a sum is wrong or a call fails that must not.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long guarded, rounds;
static volatile sig_atomic_t alarms;

static void wrong(const char* what) {
  printf("WRONG %s\n", what), fflush(stdout);
  _exit(3);
}
static void on_alarm(int number) { alarms = alarms + (number != 0); }

__attribute__((noinline)) long leaf(long x) {
  __asm__ volatile("");
  return x * 2 + 1;
}
__attribute__((noinline)) long branch(long x) {
  long sum = 0;
  for (int i = 0; i < 4; ++i) sum += leaf(x + i);
  return sum;
}
__attribute__((noinline)) void leave(jmp_buf* to, int depth) {
  if (depth == 0) longjmp(*to, 1);
  leave(to, depth - 1);
  __asm__ volatile("");
}

static void check_block(unsigned char with) {
  unsigned char* block = malloc(64);
  memset(block, with, 64);
  block = realloc(block, 3000);
  for (int i = 0; i < 64; ++i)
    if (block[i] != with) wrong("block");
  free(block);
}

static void* work(void* argument) {
  const long id = (long)argument;
  for (long round = 0; round < 100; ++round) {
    if (branch(id + round) != 8 * (id + round) + 16) wrong("sum");
    jmp_buf here;
    if (setjmp(here) == 0) leave(&here, 3);
    check_block((unsigned char)(id + round));
    pthread_mutex_lock(&mutex);
    const long before = guarded;
    if (leaf(before) != before * 2 + 1) wrong("leaf");
    guarded = before + 1;
    ++rounds;
    pthread_mutex_unlock(&mutex);
    const struct timespec nap = {0, 200000};
    if (round % 10 == 0) nanosleep(&nap, 0);
  }
  return 0;
}

static void check_children(void) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    check_block(7);
    _exit(branch(1) == 24 ? 9 : 1);
  }
  while (waitpid(child, &status, 0) != child) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 9) wrong("fork");
  child = vfork();
  if (child == 0) _exit(leaf(4) == 9 ? 8 : 1);
  while (waitpid(child, &status, 0) != child) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 8) wrong("vfork");
}

int main(int count, char** words) {
  const int threads = count > 1 ? atoi(words[1]) : 1;
  if (count > 2) {
    const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    const struct itimerval often = {{0, 1000}, {0, 1000}};
    sigaction(SIGALRM, &action, 0);
    setitimer(ITIMER_REAL, &often, 0);
  }
  for (;;) {
    pthread_t thread[64];
    for (long i = 0; i < threads; ++i)
      if (pthread_create(&thread[i], 0, work, (void*)i) != 0) wrong("pthread_create");
    for (int i = 0; i < threads; ++i) pthread_join(thread[i], 0);
    if (guarded != rounds) wrong("guarded");
    check_children();
    printf("."), fflush(stdout);
  }
}
