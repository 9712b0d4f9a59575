/* SPDX-License-Identifier: MIT
 * A timer at 1 kHz whose handler calls, allocates, locks and emits points, in the middle of everything. Correct by
 * itself: "safe" main does not allocate or lock while the signal may arrive; "busy" main does, and then the handler
 * only calls functions and emits points. Also on an alternate stack of the smallest size. */
#include <sys/time.h>

#include "torture.h"

static volatile sig_atomic_t ticks;
static int busy;

NOINLINE static int from_handler(int depth) {
  PENNA_EVENT(torture, tick, depth, "in handler");
  return depth == 0 ? 0 : from_handler(depth - 1) + 1;
}
static void on_tick(int signal) {
  int saved = errno;
  from_handler(10);
  if (!busy) work(3);
  errno = saved;
  ticks += signal == SIGALRM;
}
NOINLINE static long spin(long n) {
  long sum = 0;
  for (long i = 0; i < n; i++) {
    PENNA_EVENT(torture, spin, i);
    sum += i;
  }
  return sum;
}

int main(int argc, char** argv) {
  busy = argc > 1 && strcmp(argv[1], "busy") == 0;
  static char stack[16384];
  stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&alternate, NULL);
  struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART | (argc > 2 ? SA_ONSTACK : 0)};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval each = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &each, NULL);
  long wrong = 0;
  while (ticks < 200) {
    errno = 77;
    if (busy ? work(10) != 55 : spin(100) != 4950) wrong++;
    if (errno != 77) wrong++;
  }
  setitimer(ITIMER_REAL, &never, NULL);
  printf("ticks enough, wrong %ld\n", wrong);
}
