// SPDX-License-Identifier: MIT
// Looks functions up, from many threads, by name, version and order; compares the results, calls them, closes and
// reopens.
//   look_up PLUGIN
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kThreads = 8, kRounds = 40 };

typedef int (*plugin_function)(int);

static const char* plugin;
static pthread_barrier_t start;
static int wrong[kThreads];

static const char* const kNames[] = {"strtol", "strtoul", "labs",  "qsort", "getenv",
                                     "strdup", "toupper", "fputs", "rand_r"};

// A busy caller, in the middle of functions while other threads have them patched.
static int use(const char* name, void* function) {
  if (strcmp(name, "strtol") == 0) return (int)((long (*)(const char*, char**, int))function)("42", NULL, 10);
  if (strcmp(name, "labs") == 0) return (int)((long (*)(long))function)(-42);
  if (strcmp(name, "toupper") == 0) return ((int (*)(int))function)('a') == 'A' ? 42 : 0;
  return 42;
}

static void* look_up(void* argument) {
  int* const mistakes = argument;
  pthread_barrier_wait(&start);
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
      void* const here = dlsym(RTLD_DEFAULT, kNames[i]);
      *mistakes += here == NULL || here != dlsym(RTLD_DEFAULT, kNames[i]) || use(kNames[i], here) != 42;
      *mistakes += strtol("17", NULL, 10) != 17 || labs(-5) != 5;
    }
    void* const library = dlopen(plugin, RTLD_NOW);
    const plugin_function work = (plugin_function)dlsym(library, "plugin_work");
    const plugin_function count = (plugin_function)dlsym(library, "plugin_count");
    if (work == NULL || count == NULL || work != (plugin_function)dlsym(library, "plugin_work"))
      return ++*mistakes, NULL;
    *mistakes += work(3) != work(3);
    const int before = count(0);
    *mistakes += count(0) != before + 1;  // thread-local
    *mistakes += dlsym(library, "no_such_function") != NULL || dlerror() == NULL || dlerror() != NULL;
    dlclose(library);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  plugin = argv[1];
  // In a single thread, opened and closed, usually at the same address.
  for (int round = 0; round < kRounds; ++round) {
    void* const library = dlopen(plugin, RTLD_NOW);
    if (library == NULL) return fputs(dlerror(), stderr), 3;
    const plugin_function work = (plugin_function)dlsym(library, "plugin_work");
    const plugin_function count = (plugin_function)dlsym(library, "plugin_count");
    if (round % 20 == 0) printf("round %d: %d %d %d\n", round, work(round), count(0), count(0));
    dlclose(library);
  }
  int (*const next)(const char*) = (int (*)(const char*))dlsym(RTLD_NEXT, "puts");
  void* const versioned = dlvsym(RTLD_DEFAULT, "puts", "GLIBC_2.2.5");
  next("found");
  printf("%d %d %d\n", (void*)next == versioned, next == puts, dlvsym(RTLD_DEFAULT, "puts", "NONE_1") == NULL);

  pthread_t threads[kThreads];
  pthread_barrier_init(&start, NULL, kThreads);
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, look_up, &wrong[i]);
  int mistakes = 0;
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL), mistakes += wrong[i];
  printf("%d mistakes\n", mistakes);
  return mistakes != 0;
}
