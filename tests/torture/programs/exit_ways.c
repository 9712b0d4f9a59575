/* SPDX-License-Identifier: MIT
 * Ends in the way given by argv[1], with status argv[2], after some work. */
#include "torture.h"

static int status;

static void at_exit_first(void) { write(1, "at exit, first\n", 15); }
static void at_exit_ends(void) {
  work(3);
  _exit(status);
}
static void at_exit_exits(void) {
  work(3);
  exit(status); /* glibc continues with the remaining handlers */
}
static void quick(void) { write(1, "quick\n", 6); }

static void* exit_here(void* unused) {
  work(5);
  exit(status);
  return unused;
}
static void* _exit_here(void* unused) {
  work(5);
  _exit(status);
  return unused;
}
static void* last_thread(void* unused) {
  pthread_join(*(pthread_t*)unused, NULL);
  work(4);
  puts("last thread");
  return NULL;
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "return";
  status = argc > 2 ? atoi(argv[2]) : 0;
  static pthread_t main_thread, other;
  main_thread = pthread_self();
  printf("%ld\n", work(10));
  fflush(stdout);
  if (strcmp(way, "exit") == 0) exit(status);
  if (strcmp(way, "_exit") == 0) _exit(status);
  if (strcmp(way, "abort") == 0) abort();
  if (strcmp(way, "quick_exit") == 0) {
    at_quick_exit(quick);
    quick_exit(status);
  }
  if (strcmp(way, "atexit") == 0) atexit(at_exit_first), atexit(at_exit_ends);
  if (strcmp(way, "atexit-exit") == 0) atexit(at_exit_first), atexit(at_exit_exits);
  if (strcmp(way, "thread") == 0 || strcmp(way, "_thread") == 0) {
    pthread_create(&other, NULL, way[0] == '_' ? _exit_here : exit_here, NULL);
    for (;;) pause();
  }
  if (strcmp(way, "main-first") == 0) { /* main ends by pthread_exit, another thread ends the process: status 0 */
    pthread_create(&other, NULL, last_thread, &main_thread);
    pthread_exit(NULL);
  }
  return status;
}
