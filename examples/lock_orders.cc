// SPDX-License-Identifier: MIT
// lock_orders HOW: threads that take two locks.
//   inversion   in both orders, one thread after the other: a deadlock is possible, and never happens
//   gate        the same inside a third lock: none is possible
//   scoped      in both orders by std::scoped_lock, which tries the second: none is possible
//   deadlock    in both orders at the same time: they hang; a timer kills them
//   alone       one thread takes a lock twice: it hangs; a timer kills it
#include <pthread.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <thread>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER,
                       gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_hold;
static bool meet, inside;
static std::mutex left, right;

__attribute__((noipa)) static void take_first() { pthread_mutex_lock(&first); }
__attribute__((noipa)) static void take_second() { pthread_mutex_lock(&second); }

__attribute__((noipa)) static void forwards() {
  if (inside) pthread_mutex_lock(&gate);
  take_first();
  if (meet) pthread_barrier_wait(&both_hold);
  take_second();
  pthread_mutex_unlock(&second);
  pthread_mutex_unlock(&first);
  if (inside) pthread_mutex_unlock(&gate);
}
__attribute__((noipa)) static void backwards() {
  if (inside) pthread_mutex_lock(&gate);
  take_second();
  if (meet) pthread_barrier_wait(&both_hold);
  take_first();
  pthread_mutex_unlock(&first);
  pthread_mutex_unlock(&second);
  if (inside) pthread_mutex_unlock(&gate);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "inversion";
  meet = strcmp(how, "deadlock") == 0;
  inside = strcmp(how, "gate") == 0;
  pthread_barrier_init(&both_hold, nullptr, 2);
  if (strcmp(how, "scoped") == 0) {
    std::thread other([] { std::scoped_lock both(left, right); });
    other.join();
    std::scoped_lock both(right, left);
    return 0;
  }
  if (strcmp(how, "alone") == 0) {
    alarm(1);
    take_first();
    take_first();
  }
  if (meet) alarm(1);
  std::thread one([] {
    pthread_setname_np(pthread_self(), "one");
    for (int i = 0; i < 3; i++) forwards();
  });
  if (!meet) one.join();
  std::thread two([] {
    pthread_setname_np(pthread_self(), "two");
    backwards();
  });
  two.join();
  if (meet) one.join();
}
