// SPDX-License-Identifier: MIT
// Waits for locks of known length, from and behind known functions. Prints each, and each hold, by the clock: WHO begin end.
#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cstdio>
#include <shared_mutex>
#include <thread>

#define PLACE __attribute__((noinline))

namespace {

pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
std::shared_mutex table;

long now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}
void sleep_ms(long ms) {
  timespec time{0, ms * 1'000'000};
  nanosleep(&time, nullptr);
}

template <typename Lock>
void timed(const char* who, Lock lock) {
  const long begin = now();
  lock();
  const long end = now();
  char text[64];
  fwrite(text, 1, static_cast<size_t>(snprintf(text, sizeof text, "%s %ld %ld\n", who, begin, end)), stdout);
}

}  // namespace

// They hold the ledger one after the other, in this order.
PLACE void flush(std::atomic<int>& step) {
  pthread_mutex_lock(&ledger);
  step = 1;
  timed("flush.hold", [&] {
    while (step < 3) sleep_ms(1);
    sleep_ms(80);
  });
  pthread_mutex_unlock(&ledger);
}
PLACE void append(std::atomic<int>& step) {
  while (step < 1) sleep_ms(1);
  sleep_ms(10);
  step = 2;
  timed("append", [] { pthread_mutex_lock(&ledger); });
  timed("append.hold", [] { sleep_ms(100); });
  pthread_mutex_unlock(&ledger);
}
PLACE void read_all(std::atomic<int>& step) {
  while (step < 2) sleep_ms(1);
  sleep_ms(20);  // the other one waits already, most likely
  step = 3;
  timed("read_all", [] { pthread_mutex_lock(&ledger); });
  pthread_mutex_unlock(&ledger);
}

// Readers share the table; a writer waits for the last of them.
PLACE void look_up(std::atomic<int>& step, long ms) {
  std::shared_lock lock(table);
  ++step;
  timed("look_up.hold", [ms] { sleep_ms(ms); });
}
PLACE void update(std::atomic<int>& step) {
  while (step < 2) sleep_ms(1);
  timed("update", [] { table.lock(); });
  table.unlock();
}

int main() {
  std::atomic<int> step{0}, readers{0};
  std::thread queue[] = {std::thread(flush, std::ref(step)), std::thread(append, std::ref(step)),
                         std::thread(read_all, std::ref(step))};
  for (std::thread& thread : queue) thread.join();
  std::thread shared[] = {std::thread(look_up, std::ref(readers), 60), std::thread(look_up, std::ref(readers), 90),
                          std::thread(update, std::ref(readers))};
  for (std::thread& thread : shared) thread.join();
}
