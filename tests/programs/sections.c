// SPDX-License-Identifier: MIT
// Critical sections whose lengths are known: sections WHAT. Prints who took what for how long: "TID ms nesting" a section, in
// the order in which they begin. Invariant: the times are those that it slept at least.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_ready;

static void say(int ms, int nesting) {
  printf("%d %d %d\n", gettid(), ms, nesting);
  fflush(stdout);
}
static void pass(int ms) {
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&time, NULL);
}

static void* hold(void* ms) {
  pthread_mutex_lock(&first);
  say((int)(long)ms, 0);
  pass((int)(long)ms);
  pthread_mutex_unlock(&first);
  return NULL;
}
static void two(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, hold, (void*)(i == 0 ? 200L : 400L));
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

static void nested(void) {
  pthread_mutex_lock(&first);
  say(60, 0);
  for (int i = 0; i < 2; i++) {
    pthread_mutex_lock(&second);
    say(30, 1);
    pass(30);
    pthread_mutex_unlock(&second);
  }
  pthread_mutex_unlock(&first);
}

static void* wake(void* unused) {
  pass(200);
  pthread_mutex_lock(&first);
  say(40, 0);
  is_ready = 1;
  pthread_cond_signal(&condition);
  pass(40);
  pthread_mutex_unlock(&first);
  return unused;
}
static void waiting(void) {
  pthread_t waker;
  pthread_mutex_lock(&first);
  say(50, 0);
  pass(50);
  pthread_create(&waker, NULL, wake, NULL);
  while (!is_ready) pthread_cond_wait(&condition, &first);
  say(70, 0);
  pass(70);
  pthread_mutex_unlock(&first);
  pthread_join(waker, NULL);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "two") == 0) two();
  if (strcmp(what, "nested") == 0) nested();
  if (strcmp(what, "waiting") == 0) waiting();
  if (strcmp(what, "held") == 0) pthread_mutex_lock(&first);  // for ever
  if (strcmp(what, "killed") == 0) raise(SIGTERM);
  if (strcmp(what, "status") == 0) return fputs("to stderr\n", stderr), puts("to stdout"), atoi(argv[2]);
  return 0;
}
