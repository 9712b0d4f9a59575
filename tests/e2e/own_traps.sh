#!/bin/bash
# SPDX-License-Identifier: MIT
# A program with a handler for SIGTRAP, recorded by breakpoints: its own traps reach the handler, although it blocks all
# signals where breakpoints are hit, which makes the kernel take handlers away; and they stay blocked there.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >traps.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile sig_atomic_t caught;
static void on_trap(int number, siginfo_t* info, void* context) { caught += number == SIGTRAP && info->si_code == SI_KERNEL && context; }
__attribute__((noinline)) int leaf(int x) { asm volatile(""); return x + 1; }
static void* blocked_work(void* none) {
  sigset_t all, now;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  for (int i = 0; i < 20; ++i) {
    leaf(i);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    if (!sigismember(&now, SIGTRAP) || !sigismember(&now, SIGUSR1)) puts("WRONG mask"), exit(3);
    struct sigaction action;
    sigaction(SIGTRAP, NULL, &action);
    if (action.sa_sigaction != on_trap || !(action.sa_flags & SA_SIGINFO) || !sigismember(&action.sa_mask, SIGUSR2))
      puts("WRONG action"), exit(4);
  }
  return none;
}
static void in_a_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, blocked_work, NULL), pthread_join(thread, NULL);
}
static void trap(void) {
  const int before = caught;
  asm volatile("int3");
  if (caught != before + 1) puts("WRONG trap"), exit(5);
}
int main(int count, char** words) {
  const int rounds = count > 1 ? atoi(words[1]) : 1 << 30;
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  sigaddset(&action.sa_mask, SIGUSR2);
  sigaction(SIGTRAP, &action, NULL);
  for (int i = 0; i < 300; ++i) leaf(i); /* the action is looked at again after so many breakpoints */
  for (int i = 0; i < rounds; ++i) {
    leaf(i), trap();
    in_a_thread(), trap();
    const pid_t child = fork();
    if (child == 0) in_a_thread(), trap(), _exit(9);
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 9 << 8) return printf("WRONG child %x\n", status), 6;
    printf("%d\n", i), fflush(stdout);
  }
  return 7;
}
C
gcc -O2 -g -pthread traps.c -o dynamic
gcc -O2 -g -pthread -static traps.c -o static

for program in dynamic static; do
  run penna record --via breakpoint -f -o it.penna -k calls -F leaf -- ./$program 3
  expect_eq 7 "$status" "status of $program: $out"
  expect_match "$err" '423 calls; 0 lost' # 300, and in each round 21 and a child's 20
  start lines.txt ./$program
  await lines.txt '^3$'
  run penna record --via breakpoint -f -o it.penna -k calls,locks -F leaf --duration 400ms -p "$pid"
  expect_eq 0 "$status" "$err"
  expect_contains "$err" verified
  last=$(tail -n 1 lines.txt)
  await lines.txt "^$((last + 20))\$" # it goes on, and finds nothing wrong
  kill -9 "$pid"
done

# Several threads at once, of which some block all signals and others do not: whose hit took the handler away does not
# show, and a trap of the program's own comes meanwhile.
cat >crowd.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static __thread volatile int caught;
static volatile int over;
static void on_trap(int number) { caught += number == SIGTRAP; }
__attribute__((noinline)) int leaf(int x) { asm volatile(""); return x + 1; }
static void wrong(const char* what) { puts(what), fflush(stdout), _exit(3); }
static void trap(void) {
  const int before = caught;
  asm volatile("int3");
  if (caught != before + 1) wrong("WRONG trap");
}
static void* work(void* blocks_all) {
  sigset_t mine, now;
  sigemptyset(&mine), sigaddset(&mine, SIGUSR1);
  if (blocks_all != NULL) sigfillset(&mine);
  pthread_sigmask(SIG_SETMASK, &mine, NULL);
  while (!over) {
    leaf(1);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    if (sigismember(&now, SIGTRAP) != (blocks_all != NULL) || !sigismember(&now, SIGUSR1)) wrong("WRONG mask");
    if (blocks_all == NULL) trap();
  }
  return NULL;
}
int main(int count, char** words) {
  pthread_t threads[4];
  signal(SIGTRAP, on_trap);
  for (int i = 0; i < 1000; ++i) leaf(i); /* it is looked for a handler now and then */
  for (long i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, work, i % 2 ? words : NULL);
  for (int i = 0; i < atoi(words[count - 1]); ++i) {
    leaf(i), trap();
    const pid_t child = fork();
    if (child == 0) trap(), _exit(9);
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 9 << 8) wrong("WRONG child");
    if (i % 10 == 0) printf("%d\n", i), fflush(stdout);
  }
  over = 1;
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  return 7;
}
C
gcc -O2 -g -pthread crowd.c -o crowd
run penna record --via breakpoint -q -f -o it.penna -k calls -F leaf -- ./crowd 200
expect_eq 7 "$status" "status of a crowd: $out"
start lines.txt ./crowd 1000000000
await lines.txt '^30$'
run penna record --via breakpoint -f -o it.penna -k calls -F leaf --duration 400ms -p "$pid"
expect_contains "$err" verified
last=$(tail -n 1 lines.txt)
await lines.txt "^$((last + 100))\$"
