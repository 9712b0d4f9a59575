#!/bin/bash
# SPDX-License-Identifier: MIT
# A recorder that does not respond for a while, such as one reading a large file for another process: programs that
# connect meanwhile, or ask it what to change in a library, wait for it, even through signal handlers, and are recorded.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >late.c <<'PROGRAM'
#include <dlfcn.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noipa)) int in_child(int n) { return n * 3 + n % 7; }
static void on_alarm(int signal) { (void)signal; }

int main(void) {
  const pid_t recorder = getppid();
  int ready[2];
  char byte = 0;
  if (pipe(ready) != 0) return 2;
  const pid_t waker = fork();
  if (waker == 0) {
    if (write(ready[1], &byte, 1) != 1) _exit(2);  // it has met the recorder
    sleep(4);
    kill(recorder, SIGCONT);
    _exit(0);
  }
  if (read(ready[0], &byte, 1) != 1) return 2;
  kill(recorder, SIGSTOP);
  const pid_t child = fork();
  if (child == 0) _exit(in_child(5));
  struct sigaction action = {.sa_handler = on_alarm};
  sigaction(SIGALRM, &action, 0);
  const struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, 0);
  void* plugin = dlopen("./plugin.so", RTLD_NOW);
  setitimer(ITIMER_REAL, &never, 0);
  int (*in_plugin)(int) = plugin ? (int (*)(int))dlsym(plugin, "in_plugin") : 0;
  int ended = 0;
  waitpid(waker, &ended, 0);
  waitpid(child, &ended, 0);
  return in_plugin ? in_plugin(WEXITSTATUS(ended)) : 2;
}
PROGRAM
echo '__attribute__((noipa)) int in_plugin(int n) { return n * 2 + n % 3 - 7; }' >plugin.c
build_c late
build_c plugin -shared -fPIC && mv plugin plugin.so

run penna record -f -k calls -F in_child -F in_plugin -o late.penna -- ./late
expect_eq 35 "$status" "status"
expect_contains "$err" "2 calls; 0 lost"
expect_contains "$err" "3 processes"
expect_missing "$err" "not recorded"
run penna report calls late.penna --format csv
expect_contains "$out" in_child
expect_contains "$out" in_plugin
