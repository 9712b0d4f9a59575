// SPDX-License-Identifier: MIT
// Locks and futexes as used by libstdc++: shared_mutex, latch, barrier, semaphores, atomic waits, call_once that
// throws.
#include <atomic>
#include <barrier>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "torture.h"

using namespace std::chrono_literals;

static std::shared_timed_mutex table;
static std::timed_mutex timed;
static std::counting_semaphore<4> tokens(2);
static std::latch started(4);
static std::atomic<int> round{0};
static std::once_flag once;
static std::atomic<int> attempts{0}, made{0};
static long written, torn;

static void make() {
  if (++attempts < 3) throw std::runtime_error("not yet");
  ++made;
}

static void use_all(int number) {
  started.arrive_and_wait();
  for (int i = 0; i < 200; ++i) {
    try {
      std::call_once(once, make);
    } catch (const std::runtime_error&) {
    }
    if ((i + number) % 8 == 0) {
      std::unique_lock lock(table);
      ++written, std::this_thread::yield(), ++written;
    } else {
      std::shared_lock lock(table);
      torn += written % 2;
    }
    tokens.acquire();
    tokens.release();
  }
}

int main() {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) threads.emplace_back(use_all, i);
  for (auto& thread : threads) thread.join();
  std::printf("written %ld, torn %ld, attempts %d, made %d\n", written, torn, attempts.load(), made.load());

  std::thread pinger([] {
    for (int i = 0; i < 200; i += 2) {
      round.wait(i + 1 > 1 ? i - 1 : -1);
      while (round.load() != i) round.wait(round.load());
      round = i + 1;
      round.notify_all();
    }
  });
  for (int i = 1; i < 200; i += 2) {
    for (int seen = round.load(); seen != i; seen = round.load()) round.wait(seen);
    round = i + 1;
    round.notify_one();
  }
  pinger.join();
  std::printf("round %d\n", round.load());

  std::barrier meet(2, []() noexcept { torn += 0; });
  std::jthread other([&] {
    for (int i = 0; i < 50; ++i) meet.arrive_and_wait();
  });
  for (int i = 0; i < 50; ++i) meet.arrive_and_wait();
  other.join();

  std::binary_semaphore never(0);
  std::unique_lock held(timed);
  std::thread impatient([] { std::printf("timed %d\n", timed.try_lock_for(2ms)); });
  impatient.join();
  std::mutex mutex;
  std::condition_variable_any any;
  std::unique_lock lock(mutex);
  std::printf("semaphore %d, condition %d\n", never.try_acquire_for(2ms),
              any.wait_for(lock, 2ms) == std::cv_status::timeout);
}
