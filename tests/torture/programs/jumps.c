/* SPDX-License-Identifier: MIT
 * longjmp out of 10 instrumented frames, many times; siglongjmp out of a handler; contexts swapped back and forth, also
 * within one frame, which has used its stack for other calls by then. */
#include <setjmp.h>
#include <ucontext.h>

#include "torture.h"

static jmp_buf target;
static sigjmp_buf signal_target;
static ucontext_t main_context, coroutine;
static long steps;

NOINLINE static int down(int depth) {
  if (depth == 0) longjmp(target, 1);
  return down(depth - 1) + 1;
}
NOINLINE static void in_handler(int depth, int signal) {
  if (depth == 0) siglongjmp(signal_target, signal);
  in_handler(depth - 1, signal);
  steps++;
}
static void on_signal(int signal) { in_handler(5, signal); }

NOINLINE static void yield_deep(int depth) {
  if (depth > 0) {
    yield_deep(depth - 1);
    steps++;
    return;
  }
  work(4);
  swapcontext(&coroutine, &main_context);
}
static void coroutine_body(void) {
  for (int i = 0; i < 500; i++) yield_deep(i % 8);
}

NOINLINE static void overwrite_stack(int depth) {
  volatile char bytes[2000];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = 0x41;
  if (depth > 0) overwrite_stack(depth - 1);
}
// swapcontext used like setjmp: returns how often it came back.
NOINLINE static int come_back(void) {
  static ucontext_t again, back;
  volatile int passes = 0, returns = 0;
  getcontext(&again);
  if (passes++ == 0) {
    swapcontext(&back, &again);
    returns++;
  }
  overwrite_stack(3);
  if (returns == 0) setcontext(&back);
  return returns;
}

int main(void) {
  volatile int jumps = 0, caught = 0, switches = 0;
  for (volatile int i = 0; i < 1000; i++) {
    if (setjmp(target) == 0) down(10);
    jumps++;
    work(2);
  }
  signal(SIGUSR1, on_signal);
  for (volatile int i = 0; i < 1000; i++) {
    if (sigsetjmp(signal_target, 1) == 0) raise(SIGUSR1);
    caught++;
  }
  getcontext(&coroutine);
  coroutine.uc_stack.ss_sp = malloc(65536);
  coroutine.uc_stack.ss_size = 65536;
  coroutine.uc_link = &main_context;
  makecontext(&coroutine, coroutine_body, 0);
  for (int i = 0; i < 501; i++) swapcontext(&main_context, &coroutine), switches++;
  free(coroutine.uc_stack.ss_sp);
  int returns = 0;
  for (int i = 0; i < 500; i++) returns += come_back();
  printf("%d jumps, %d out of handlers, %d switches, %d returns, %ld steps, %ld\n", jumps, caught, switches, returns,
         steps, work(10));
}
