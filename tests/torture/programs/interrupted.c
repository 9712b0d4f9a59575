/* SPDX-License-Identifier: MIT
 * Waits for Ctrl-C. "handle": cleans up, which takes a while, and ends with 3. "default": dies by it. "ignore": reads on. */
#include "torture.h"

static volatile sig_atomic_t seen;
static void on_interrupt(int signal) { seen = signal; }

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "handle";
  struct sigaction action = {.sa_handler = strcmp(mode, "ignore") == 0 ? SIG_IGN : on_interrupt};
  if (strcmp(mode, "default") != 0) sigaction(SIGINT, &action, NULL), sigaction(SIGQUIT, &action, NULL);
  work(20);
  puts("ready");
  fflush(stdout);
  char line[10] = "";
  if (strcmp(mode, "ignore") == 0) {
    char* got = fgets(line, sizeof line, stdin);
    printf("read %s", got ? got : "nothing\n");
    return 4;
  }
  while (!seen) usleep(1000);
  for (int i = 0; i < 200; i++) work(5), usleep(1000);
  printf("cleaned up after signal %d\n", (int)seen);
  return 3;
}
