// SPDX-License-Identifier: MIT
// ./grab THREADS [KILOBYTES]: how many megabytes of address space may this program still have, after so many threads? With KILOBYTES it
// limits itself first, and tells what it and a program that it starts say of the limit.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void* volatile kept;

static void* work(void* unused) {
  for (int i = 0; i < 1000; ++i) free(kept = malloc(100));
  return unused;
}

static void limit_to(rlim_t bytes) {
  struct rlimit limit = {bytes, RLIM_INFINITY}, old;
  int wrong =
      setrlimit(RLIMIT_AS, &limit) != 0 || getrlimit(RLIMIT_AS, &old) != 0 || memcmp(&limit, &old, sizeof old) != 0;
  limit.rlim_max = bytes;
  wrong |= prlimit(0, RLIMIT_AS, &limit, &old) != 0 || old.rlim_cur != bytes || old.rlim_max != RLIM_INFINITY;
  limit.rlim_cur = bytes + 1;
  wrong |= setrlimit(RLIMIT_AS, &limit) == 0 || prlimit(getpid(), RLIMIT_AS, NULL, &old) != 0 || old.rlim_cur != bytes;
  if (wrong) puts("it is not told what it asked for");
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    execl("/nonexistent", "none", (char*)NULL);  // nothing is lost by one that fails
    execlp("bash", "bash", "-c", "ulimit -v", (char*)NULL);
  }
  waitpid(child, NULL, 0);
}

int main(int argc, char** argv) {
  if (argc > 2) limit_to(strtoul(argv[2], NULL, 10) << 10);
  pthread_t threads[64];
  const int count = argc > 1 ? atoi(argv[1]) % 65 : 0;
  for (int i = 0; i < count; ++i) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  long megabytes = 0;
  while (mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED) ++megabytes;
  printf("%ld\n", megabytes);
  return 0;
}
