/* SPDX-License-Identifier: MIT
 * Becomes a daemon that outlives its parent, works for a while, and writes its result to file argv[1]. */
#include <fcntl.h>
#include <sys/stat.h>

#include "torture.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  puts("starting");
  fflush(stdout);
  if (fork() != 0) return 5;
  setsid();
  if (fork() != 0) _exit(0);
  umask(027);
  if (chdir("/") != 0) return 1;
  for (int fd = 0; fd < 1024; fd++) close(fd);
  open("/dev/null", O_RDWR);
  if (dup(0) != 1 || dup(0) != 2) return 1;
  long sum = 0;
  for (int i = 0; i < 100; i++) sum += work(10), usleep(5000);
  int file = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dprintf(file, "daemon done: %ld, parent %s, descriptor %d\n", sum, getppid() == 1 ? "gone" : "another", file);
  close(file);
  return 0;
}
