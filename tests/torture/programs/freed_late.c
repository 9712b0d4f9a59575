/* SPDX-License-Identifier: MIT
 * Blocks freed elsewhere: by another thread, a thread that ends, a signal handler, a forked child, a library that is
 * closed. With the plugin's path as its argument. */
#include <dlfcn.h>
#include <sys/wait.h>

#include "torture.h"

static void* volatile shared;
static pthread_key_t key;

static void* ends(void* unused) {
  pthread_setspecific(key, malloc(1100)); /* free is its destructor: runs when the thread has left its function */
  free(shared);
  shared = malloc(1200);
  return unused;
}
static void handler(int number) {
  (void)number;
  free(shared);
  shared = NULL;
}

int main(int count, char** words) {
  pthread_t thread;
  pthread_key_create(&key, free);
  for (int i = 0; i < 20; i++) {
    shared = malloc(1000);
    pthread_create(&thread, NULL, ends, NULL);
    pthread_join(thread, NULL);
    free(shared); /* the thread that allocated it is gone */
  }
  signal(SIGUSR1, handler);
  shared = malloc(1300);
  raise(SIGUSR1); /* between calls: malloc is not active */
  char* inherited = malloc(1400);
  char* both = malloc(1500);
  pid_t child = fork();
  if (child == 0) {
    free(inherited);
    free(both);
    shared = malloc(1600);
    free(shared);
    _exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  free(both);
  free(inherited);
  for (int i = 0; i < 3 && count > 1; i++) {
    void* plugin = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) return 1;
    dlclose(plugin); /* its destructor frees what its constructor allocated */
  }
  printf("child %d, left %d\n", WEXITSTATUS(status), shared != NULL);
}
