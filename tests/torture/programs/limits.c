/* SPDX-License-Identifier: MIT
 * Runs under small limits (set by the runner) and prints what it can still do: descriptors, memory, file size. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "torture.h"

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "files";
  for (int i = 0; i < 500; i++) work(20);
  if (strcmp(what, "files") == 0) { /* every descriptor below the limit is usable */
    int last = -1, count = 0;
    for (int fd; (fd = open("/dev/null", O_RDONLY)) >= 0; count++) last = fd;
    printf("opened %d, last %d, %s\n", count, last, strerror(errno));
  } else if (strcmp(what, "memory") == 0) {
    size_t megabytes = (size_t)atol(argv[2]);
    void* fits = malloc(megabytes << 20);
    void* too_much = malloc((size_t)8 << 30);
    printf("%zu MB %s, 8 GB %s\n", megabytes, fits ? "fits" : "does not fit", too_much ? "fits" : "does not fit");
    free(fits), free(too_much);
  } else if (strcmp(what, "size") == 0) { /* SIGXFSZ must come at the limit and not before */
    signal(SIGXFSZ, SIG_IGN);
    char name[] = "/tmp/torture-XXXXXX", block[1024] = "";
    int file = mkstemp(name), blocks = 0;
    unlink(name);
    while (write(file, block, sizeof block) == sizeof block && blocks < 10000) blocks++;
    printf("wrote %d KiB, %s\n", blocks, strerror(errno));
  }
  struct rlimit stack;
  getrlimit(RLIMIT_STACK, &stack);
  printf("work %ld, stack limit %ld\n", work(30), (long)stack.rlim_cur);
}
