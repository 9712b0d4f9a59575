/* SPDX-License-Identifier: MIT
 * A dlopen returns while another thread is in one, whose constructor waits for what the first thread does next. Built as the library,
 * WAITS, too: its constructor begins that, or waits. */
#include <dlfcn.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

#include "torture.h"

#ifdef LIBRARY
void constructed(int waits);
__attribute__((constructor)) static void begin(void) { constructed(WAITS); }
long open_amid_call(int depth) {
  char* volatile block = strdup("called");
  free(block);
  return work(depth);
}
#else
static sem_t begun, opened;
static const char* waiting;

/* The second thread stands in dlopen, most likely, when the first one's constructor returns. */
__attribute__((visibility("default"), noinline)) void constructed(int waits) {
  const struct timespec shortly = {0, 2000000};
  struct timespec until;
  if (!waits) {
    sem_post(&begun);
    nanosleep(&shortly, NULL);
    return;
  }
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 5;
  if (sem_timedwait(&opened, &until) != 0) printf("waited in vain\n");
}

static long use(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 0;
  if (path != waiting) sem_post(&opened); /* before dlsym, which waits for the other dlopen's end */
  long (*call)(int) = (long (*)(int))dlsym(library, "open_amid_call");
  const long sum = call(3);
  dlclose(library);
  return sum;
}

static void* open_waiting(void* sum) {
  while (sem_wait(&begun) != 0) {
  }
  *(long*)sum = use(waiting);
  return sum;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  waiting = argv[2];
  long sum = 0, their_sum = 0;
  for (int i = 0; i < 20; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, open_waiting, &their_sum);
    sum += use(argv[1]);
    pthread_join(thread, NULL);
    sum += their_sum;
  }
  printf("sum %ld\n", sum);
}
#endif
