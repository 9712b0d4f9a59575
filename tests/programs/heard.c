/* SPDX-License-Identifier: MIT
 * Writes a line to the file named for each signal that it gets, until SIGTERM; then how many there were.
 *     heard FILE [stop|ignore|group|child]
 *   stop: SIGTSTP stops it; ignore: it ignores that; group: it sends SIGUSR1 to its process group; child: leaves a child that
 *   listens, and ends after a moment. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static FILE* file;

static void listen_to(const sigset_t* set) {
  siginfo_t info;
  int count = 0;
  fprintf(file, "ready\n");
  for (;;) {
    const int signal = sigwaitinfo(set, &info);
    if (signal <= 0 || signal == SIGCHLD) continue;
    fprintf(file, "got %d", signal);
    if (info.si_code == SI_QUEUE) fprintf(file, " with %d", info.si_value.sival_int);
    fprintf(file, "\n");
    ++count;
    if (signal == SIGTERM) break;
  }
  fprintf(file, "%d in all\n", count);
}

int main(int argc, char** argv) {
  const char* how = argc > 2 ? argv[2] : "";
  sigset_t set;
  file = argc > 1 ? fopen(argv[1], "a") : NULL;
  if (file == NULL) return 1;
  setvbuf(file, NULL, _IOLBF, 0);
  sigfillset(&set);
  if (strcmp(how, "stop") == 0 || strcmp(how, "ignore") == 0) {
    signal(SIGTSTP, strcmp(how, "stop") == 0 ? SIG_DFL : SIG_IGN);
    sigdelset(&set, SIGTSTP);
  }
  sigprocmask(SIG_SETMASK, &set, NULL);
  if (strcmp(how, "group") == 0) kill(0, SIGUSR1);
  if (strcmp(how, "child") == 0 && fork() != 0) return sleep(1) != 0;
  listen_to(&set);
  return 3;
}
