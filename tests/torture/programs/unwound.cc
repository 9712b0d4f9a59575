// SPDX-License-Identifier: MIT
// Checks forever that exceptions are caught where they should be, an allocation that is too large throws, and that
// everything is cleaned up after a thread that is cancelled in a condition wait, and after one that ends by
// pthread_exit. An agent, whose frames are in the way, is attached and detached meanwhile (attach.py).
//
// Prints "right" each round; "WRONG ..." and exit status 3 otherwise.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int ended;
static volatile bool waits;
static char* volatile sink;
struct Counts {
  ~Counts() { __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED); }
};
__attribute__((noinline)) int throws(int depth) {
  if (depth == 0) throw std::runtime_error(std::string(40, 'x'));
  const int deeper = throws(depth - 1);
  asm volatile("");
  return deeper + 1;
}
__attribute__((noinline)) bool is_too_large() {
  volatile size_t most = size_t{1} << 60;
  try {
    sink = new char[most];
    return false;
  } catch (const std::bad_alloc&) {
    return true;
  }
}
static void unlock(void*) { ++ended, pthread_mutex_unlock(&mutex); }
static void* be_cancelled(void*) {
  Counts first;
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, nullptr);
  waits = true;
  for (;;) pthread_cond_wait(&never, &mutex);
  pthread_cleanup_pop(1);
}
__attribute__((noinline)) static void leave() {
  Counts second;
  pthread_exit(nullptr);
}
static void* end_itself(void*) {
  Counts first;
  leave();
  return nullptr;
}
static void wrong(const char* what) { std::printf("WRONG %s\n", what), std::fflush(stdout), _exit(3); }
int main() {
  for (;;) {
    try {
      throws(5), wrong("throw");
    } catch (const std::runtime_error& error) {
      if (std::string(error.what()).size() != 40) wrong("text");
    }
    if (!is_too_large()) wrong("size");
    pthread_t thread;
    void* result;
    pthread_create(&thread, nullptr, be_cancelled, nullptr);
    while (!waits) usleep(50);
    pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex);
    waits = false;
    pthread_cancel(thread), pthread_join(thread, &result);
    if (result != PTHREAD_CANCELED) wrong("cancel");
    pthread_create(&thread, nullptr, end_itself, nullptr), pthread_join(thread, &result);
    if (__atomic_exchange_n(&ended, 0, __ATOMIC_RELAXED) != 4) wrong("ends");
    std::puts("right"), std::fflush(stdout);
  }
}
