/* SPDX-License-Identifier: MIT
 * A terminal program: asks for a password without echo, then for a line with echo; says whether it has a terminal. */
#include <sys/ioctl.h>
#include <termios.h>

#include "torture.h"

int main(void) {
  struct termios before, silent;
  if (tcgetattr(0, &before) != 0) DIE("tcgetattr");
  silent = before;
  silent.c_lflag &= ~(tcflag_t)ECHO;
  tcsetattr(0, TCSAFLUSH, &silent);
  char line[100];
  printf("Password: ");
  fflush(stdout);
  if (fgets(line, sizeof line, stdin) == NULL) DIE("password");
  tcsetattr(0, TCSAFLUSH, &before);
  line[strcspn(line, "\n")] = 0;
  printf("\nread %zu characters, sum %ld\n", strlen(line), work((int)strlen(line)));
  printf("Name: ");
  fflush(stdout);
  if (fgets(line, sizeof line, stdin) == NULL) DIE("name");
  struct winsize size;
  ioctl(1, TIOCGWINSZ, &size);
  printf("hello %s%d%d%d, %d x %d, foreground %d\n", line, isatty(0), isatty(1), isatty(2), size.ws_col, size.ws_row,
         tcgetpgrp(0) == getpgrp());
}
