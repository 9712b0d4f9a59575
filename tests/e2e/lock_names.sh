#!/bin/bash
# SPDX-License-Identifier: MIT
# Names of locks and their holders if a library is between them and the program: the program's own function, phrased to
# fit a sentence, and distinguished if several have the same name.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cat >wrapped.cc <<'PROGRAM'
#include <atomic>
#include <barrier>
#include <cstdio>
#include <filesystem>
#include <future>
#include <pthread.h>
#include <thread>
#include <unistd.h>
#include <vector>
#define PLACE __attribute__((noipa))
extern "C" PLACE void uv_mutex_lock(pthread_mutex_t *mutex) { pthread_mutex_lock(mutex); }
extern "C" PLACE void uv_mutex_unlock(pthread_mutex_t *mutex) { pthread_mutex_unlock(mutex); }
extern "C" PLACE void uv_mutex_init(pthread_mutex_t *mutex) { pthread_mutex_init(mutex, nullptr); }
namespace shop {
struct FileLock {
  pthread_mutex_t *mutex;
  PLACE FileLock(pthread_mutex_t *of) : mutex(of) { uv_mutex_lock(mutex); }
  PLACE ~FileLock() { uv_mutex_unlock(mutex); }
};
}  // namespace shop
std::vector<pthread_mutex_t> *locks;
std::atomic<int> phase;
PLACE void make_locks() {
  locks = new std::vector<pthread_mutex_t>(2);
  for (pthread_mutex_t &lock : *locks) uv_mutex_init(&lock);
}
// Until so many other threads sleep, and go on sleeping: however busy the machine, they wait then.
static void await_sleepers(int wanted) {
  for (int looks = 0; looks < 20; usleep(1000)) {
    int sleepers = 0;
    for (const auto &task : std::filesystem::directory_iterator("/proc/self/task")) {
      char state = 0;
      FILE *stat = fopen((task.path() / "stat").c_str(), "r");
      if (stat != nullptr && fscanf(stat, "%*d (%*[^)]) %c", &state) == 1) sleepers += state == 'S';
      if (stat != nullptr) fclose(stat);
    }
    looks = sleepers == wanted ? looks + 1 : 0;
  }
}
PLACE void audit(int i) {
  shop::FileLock lock(&(*locks)[i]);
  for (phase++; phase % 2 != 0;) usleep(100);
  await_sleepers(2);  // main, and who pays
}
PLACE void pay(int i) {
  while (phase % 2 == 0) usleep(100);
  phase++;
  shop::FileLock lock(&(*locks)[i]);
}
std::barrier<> both(2);
PLACE void meets() { both.arrive_and_wait(); }
PLACE int gets(std::future<int> later) { return later.get(); }
int main() {
  make_locks();
  for (int i = 0; i < 2; i++) {
    std::thread one(audit, i), other(pay, i);
    one.join();
    other.join();
  }
  std::promise<int> promise;
  std::thread early(meets), getter(gets, promise.get_future());
  await_sleepers(2);
  both.arrive_and_wait();
  promise.set_value(1);
  early.join();
  getter.join();
}
PROGRAM
build_c wrapped
penna record -q -k locks -o wrapped.penna -- ./wrapped
run penna report wrapped.penna locks
expect_match "$out" '^1 thread lost .* waiting for the mutex made in make_locks\(\) \(wrapped.cc:[0-9]+\) \(0x[0-9a-f]+\), .* of it while audit\(int\) \(wrapped.cc:[0-9]+\) held it\.$'
expect_match "$out" '^Waits for the mutex made in make_locks\(\) \(wrapped.cc:[0-9]+\) \(0x[0-9a-f]+\) by length$'
expect_match "$out" ' 0x[0-9a-f]+ +mutex +made in make_locks\(\) \(wrapped.cc:[0-9]+\) +audit\(int\) \(wrapped.cc:[0-9]+\), '
expect_match "$out" ' futex +first used in gets\(std::future<int>\) \(wrapped.cc:[0-9]+\)$'
expect_match "$out" ' futex +first used in meets\(\) \(wrapped.cc:[0-9]+\)$'
expect_missing "$out" "__waiter_pool"
