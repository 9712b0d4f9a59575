// SPDX-License-Identifier: MIT
// Threads open and close libraries, usually a different one than the other threads, so that one is patched while others
// are unmapped and mapped again.
//   reopen LIBRARY...
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

enum { kThreadsOfEach = 2, kMostLibraries = 4, kRounds = 150 };

static pthread_barrier_t start;

static void* reopen(void* argument) {
  const char* const path = argument;
  long mistakes = 0;
  pthread_barrier_wait(&start);
  for (int round = 0; round < kRounds; ++round) {
    void* const library = dlopen(path, round % 2 == 0 ? RTLD_NOW : RTLD_LAZY);
    int (*const work)(int) = library != NULL ? (int (*)(int))dlsym(library, "plugin_work") : NULL;
    mistakes += work == NULL || work(3) != 5 || work(5) != 14;
    mistakes += library == NULL || dlclose(library) != 0;
  }
  return (void*)mistakes;
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > kMostLibraries + 1) return 2;
  pthread_t threads[kMostLibraries * kThreadsOfEach];
  const int count = (argc - 1) * kThreadsOfEach;
  pthread_barrier_init(&start, NULL, (unsigned)count);
  for (int i = 0; i < count; ++i) pthread_create(&threads[i], NULL, reopen, argv[1 + i / kThreadsOfEach]);
  long mistakes = 0;
  for (int i = 0; i < count; ++i) {
    void* result;
    pthread_join(threads[i], &result);
    mistakes += (long)result;
  }
  printf("%ld mistakes\n", mistakes);
  return mistakes != 0;
}
