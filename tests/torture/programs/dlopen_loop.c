/* SPDX-License-Identifier: MIT
 * Loads, calls and unloads an instrumented library 300 times, two threads at once; code is mapped and unmapped at one
 * address. */
#include <dlfcn.h>

#include "torture.h"

static const char* path;

static void* loop(void* unused) {
  long sum = 0;
  for (int i = 0; i < 300; i++) {
    void* library = dlopen(path, i % 2 ? RTLD_NOW : RTLD_LAZY);
    if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), unused;
    long (*call)(int) = (long (*)(int))dlsym(library, "plugin_call");
    sum += call(i % 7);
    dlclose(library);
  }
  printf("sum %ld\n", sum);
  return unused;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  path = argv[1];
  loop(NULL);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, loop, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  void* library = dlopen("libtorture-is-not-there.so", RTLD_NOW);
  printf("missing: %s, %s\n", library ? "found" : "not found", dlerror());
}
