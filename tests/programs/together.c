// SPDX-License-Identifier: MIT
// ./together LIBRARY: three threads open it at the same time, call its plugin_work() and close it, 40 times. Prints how
// many of these calls have returned true.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static pthread_barrier_t all;
static int sum;
static void* run(void* name) {
  for (int round = 0; round < 40; ++round) {
    pthread_barrier_wait(&all);
    void* opened = dlopen(name, RTLD_NOW);
    int (*work)(void) = opened ? (int (*)(void))dlsym(opened, "plugin_work") : 0;
    __atomic_fetch_add(&sum, work && work(), __ATOMIC_RELAXED);
    pthread_barrier_wait(&all);
    if (opened) dlclose(opened);
  }
  return 0;
}
int main(int count, char** names) {
  pthread_t threads[3];
  pthread_barrier_init(&all, 0, 3);
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], 0, run, names[count - 1]);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], 0);
  return printf("%d\n", sum) < 0;
}
