// SPDX-License-Identifier: MIT
// lock_chain: three threads, 100 ms each. `last` holds `inner` for 100 ms; `middle` holds `outer` meanwhile and waits for
// `inner`, then holds both for 100 ms; `front` waits for `outer` all the time, and then holds it for 100 ms.
#include <pthread.h>
#include <unistd.h>

#include <thread>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begun;

__attribute__((noipa)) static void work() { usleep(100'000); }

__attribute__((noipa)) static void run_last() {
  pthread_setname_np(pthread_self(), "last");
  pthread_mutex_lock(&inner);
  pthread_barrier_wait(&begun);
  work();
  pthread_mutex_unlock(&inner);
}
__attribute__((noipa)) static void run_middle() {
  pthread_setname_np(pthread_self(), "middle");
  pthread_mutex_lock(&outer);
  pthread_barrier_wait(&begun);
  pthread_mutex_lock(&inner);
  work();
  pthread_mutex_unlock(&inner);
  pthread_mutex_unlock(&outer);
}
__attribute__((noipa)) static void run_front() {
  pthread_setname_np(pthread_self(), "front");
  pthread_barrier_wait(&begun);
  pthread_mutex_lock(&outer);
  work();
  pthread_mutex_unlock(&outer);
}

int main() {
  pthread_barrier_init(&begun, nullptr, 3);
  std::thread last(run_last), middle(run_middle), front(run_front);
  last.join();
  middle.join();
  front.join();
}
