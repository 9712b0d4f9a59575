/* SPDX-License-Identifier: MIT
 * A dlopen returns while another thread is inside one, whose constructor waits for the first thread's next action. Also
 * built as the library, with WAITS: its constructor signals that, or waits. With a number: that many times, at any
 * moment of the first thread's return, while there are modules that libc has opened itself. */
#include <dlfcn.h>
#include <iconv.h>
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
static int rounds, round_now;

static long elapsed(const struct timespec* since) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - since->tv_sec) * 1000000000 + now.tv_nsec - since->tv_nsec;
}

static void open_of_libc(int round) {
  static const char* const sets[] = {"UTF-16",     "KOI8-R", "BIG5", "CP1252", "EUC-KR",
                                     "ISO-8859-5", "IBM850", "GBK",  "UTF-7",  "MACINTOSH"};
  iconv_t one = iconv_open("UTF-8", sets[round % 10]);
  if (one != (iconv_t)-1) iconv_close(one);
}

/* The second thread is most likely in dlopen when the first one's constructor returns. */
__attribute__((visibility("default"), noinline)) void constructed(int waits) {
  const struct timespec shortly = {0, 2000000};
  struct timespec until;
  if (!waits) {
    sem_post(&begun);
    if (rounds == 0) nanosleep(&shortly, NULL);
    return;
  }
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 5;
  if (sem_timedwait(&opened, &until) != 0) printf("waited in vain\n");
}

static long use(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 0;
  if (path != waiting) sem_post(&opened); /* before dlsym, which waits for the end of the other dlopen */
  long (*call)(int) = (long (*)(int))dlsym(library, "open_amid_call");
  const long sum = call(3);
  dlclose(library);
  return sum;
}

static void* open_waiting(void* sum) {
  struct timespec since;
  while (sem_wait(&begun) != 0) {
  }
  clock_gettime(CLOCK_MONOTONIC, &since);
  while (rounds != 0 && elapsed(&since) < round_now * 7919L % 400000) {
  }
  *(long*)sum = use(waiting);
  return sum;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  waiting = argv[2];
  long sum = 0, their_sum = 0;
  rounds = argc > 3 ? atoi(argv[3]) : 0;
  for (int i = 0; i < (rounds != 0 ? rounds : 20); i++) {
    pthread_t thread;
    round_now = i;
    if (rounds != 0) open_of_libc(i);
    pthread_create(&thread, NULL, open_waiting, &their_sum);
    sum += use(argv[1]);
    pthread_join(thread, NULL);
    sum += their_sum;
  }
  printf("sum %ld\n", sum);
}
#endif
