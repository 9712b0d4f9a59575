// SPDX-License-Identifier: MIT
// Threads that continuously load and unload libraries, each its own (library.c, built in several ways), and check
// their results. Another one does so with the unwinder's library:
//
//   libraries LIBRARY...     prints a line every 10 ms; "WRONG" if anything is incorrect
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void* come_and_go(void* path) {
  for (;; usleep(500)) {
    void* const library = dlopen(path, RTLD_NOW);
    int (*const sum)(int) = library != NULL ? (int (*)(int))dlsym(library, "sum") : NULL;
    usleep(500);
    for (int i = 0; i < 20; ++i)
      if (sum == NULL || sum(i) != i * (i + 1) / 2) printf("WRONG: %s, %d\n", (const char*)path, i);
    if (library == NULL || dlclose(library) != 0) printf("WRONG: %s: %s\n", (const char*)path, dlerror());
  }
  return NULL;
}

// The unwinder's, which backtraces need: this program is not linked with it.
static void* come_and_go_unwinder(void* none) {
  for (;; usleep(300)) {
    void* const library = dlopen("libgcc_s.so.1", RTLD_NOW);
    if (library == NULL || dlsym(library, "_Unwind_Backtrace") == NULL || dlclose(library) != 0)
      printf("WRONG: libgcc_s.so.1: %s\n", dlerror());
  }
  return none;
}

int main(int count, char** paths) {
  pthread_t unwinder;
  if (pthread_create(&unwinder, NULL, come_and_go_unwinder, NULL) != 0) return 1;
  for (int i = 1; i < count; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, come_and_go, paths[i]) != 0) return 1;
  }
  for (int round = 0;; ++round, usleep(10000)) printf("round %d\n", round), fflush(stdout);
}
