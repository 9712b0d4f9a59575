// SPDX-License-Identifier: MIT
// How many megabytes of address space may this program still have? With a thread for each number given.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static void* volatile kept;

static void* work(void* unused) {
  for (int i = 0; i < 1000; ++i) free(kept = malloc(100));
  return unused;
}

int main(int argc, char** argv) {
  pthread_t threads[64];
  const int count = argc > 1 ? atoi(argv[1]) % 65 : 0;
  for (int i = 0; i < count; ++i) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  long megabytes = 0;
  while (mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED) ++megabytes;
  printf("%ld\n", megabytes);
  return 0;
}
