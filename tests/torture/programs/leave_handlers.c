/* SPDX-License-Identifier: MIT
 * A thread is interrupted anywhere, the given number of times, and its handler leaves by siglongjmp: operations in
 * progress are never finished, neither the program's nor a tracer's. Correct by itself: the thread only calls functions
 * of its own. Each call hits a point with a text so long that a tracer's buffers are full soon. */
#include <setjmp.h>

#include "torture.h"

static sigjmp_buf again;
static volatile sig_atomic_t left, done;

static char text[1500];
NOINLINE static long step(long n) {
  PENNA_EVENT(torture, step, n, text);
  return n * 3 + 1;
}
static void on_signal(int signal) {
  left += signal == SIGUSR1;
  siglongjmp(again, 1);
}
static void* run(void* unused) {
  sigset_t none;
  sigemptyset(&none);
  sigsetjmp(again, 1);
  pthread_sigmask(SIG_SETMASK, &none, NULL);
  for (volatile long n = 0; !done; n++) step(n);
  return unused;
}

int main(int argc, char** argv) {
  const int times = argc > 1 ? atoi(argv[1]) : 1;
  memset(text, 'x', sizeof text - 1);
  sigset_t blocked;
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGUSR1, &action, NULL);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, NULL); /* the thread unblocks it once it has somewhere to jump to */
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  for (int i = 0; i < times; i++) {
    pthread_kill(thread, SIGUSR1);
    while (left == i) sched_yield();
  }
  done = 1;
  pthread_join(thread, NULL);
  printf("left %d handlers\n", (int)left);
}
