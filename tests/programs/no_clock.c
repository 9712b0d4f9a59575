// SPDX-License-Identifier: MIT
// ./no_clock strict|tsc: forbids itself nearly every system call, or to read the time stamp counter; then it allocates on. Exits with 3.
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void* volatile kept;

int main(int argc, char** argv) {
  kept = malloc(100000);
  free(kept);
  if (argc != 2) return 1;
  const int failed = strcmp(argv[1], "strict") == 0 ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0)
                                                    : prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
  if (failed != 0) return 2;
  for (int i = 0; i < 100000; ++i) {
    kept = malloc((size_t)i % 1000);
    free(kept);
  }
  if (write(1, "ok\n", 3) != 3) return 1;
  if (strcmp(argv[1], "strict") != 0) return 3;
  syscall(SYS_exit, 3);
}
