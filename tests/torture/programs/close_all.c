/* SPDX-License-Identifier: MIT
 * Closes every descriptor that it did not open, as daemons and shells do, and continues: a number may then refer to
 * another file, which only the program itself may write to. */
#include <fcntl.h>

#include "torture.h"

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "range";
  work(10);
  if (strcmp(mode, "range") == 0) close_range(3, ~0U, 0);
  if (strcmp(mode, "closefrom") == 0) closefrom(3);
  if (strcmp(mode, "loop") == 0)
    for (int fd = 3; fd < 65536; fd++) close(fd);
  char name[] = "/tmp/torture-XXXXXX";
  int first = mkstemp(name);
  unlink(name);
  int more[50];
  for (int i = 0; i < 50; i++) more[i] = dup(first);
  for (int round = 0; round < 2000; round++) work(20);
  pid_t child = fork();
  if (child == 0) {
    for (int round = 0; round < 100; round++) work(20);
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  printf("first %d, last %d, file of %ld bytes, child %d\n", first, more[49], (long)lseek(first, 0, SEEK_END), status);
}
