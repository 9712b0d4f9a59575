// SPDX-License-Identifier: MIT
// QuietThreads: which threads of a process are known although they recorded nothing.
#include "collect/quiet_threads.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace penna::quiet_threads_test {
namespace {

// A thread that waits to be let go.
class Waiting {
 public:
  explicit Waiting(const char* name) : thread_([this, name] { wait(name); }) {
    while (tid_ == 0) std::this_thread::yield();
  }
  ~Waiting() {
    may_end_ = true;
    thread_.join();
  }
  uint32_t tid() const { return tid_; }

 private:
  void wait(const char* name) {
    ::pthread_setname_np(::pthread_self(), name);
    tid_ = static_cast<uint32_t>(::gettid());
    while (!may_end_) std::this_thread::yield();
  }
  std::atomic<uint32_t> tid_{0};
  std::atomic<bool> may_end_{false};
  std::thread thread_;
};

const Thread* with_tid(const std::vector<Thread>& threads, uint32_t tid) {
  for (const Thread& thread : threads)
    if (thread.tid == tid) return &thread;
  return nullptr;
}

TEST(QuietThreads, AreThoseThatNeverRecorded) {
  const auto pid = static_cast<uint32_t>(::getpid());
  const Waiting quiet("quiet"), busy("busy"), late("late");
  QuietThreads threads;
  threads.has_recorded(busy.tid());
  threads.look(pid);
  threads.has_recorded(late.tid());
  const std::vector<Thread> all = threads.all();
  ASSERT_NE(with_tid(all, quiet.tid()), nullptr);
  EXPECT_EQ(with_tid(all, quiet.tid())->name, "quiet");
  EXPECT_GE(with_tid(all, quiet.tid())->serial, QuietThreads::kFirstSerial);
  EXPECT_NE(with_tid(all, pid), nullptr);
  EXPECT_EQ(with_tid(all, busy.tid()), nullptr);
  EXPECT_EQ(with_tid(all, late.tid()), nullptr);
}

TEST(QuietThreads, StayKnownWhenTheyHaveEnded) {
  QuietThreads threads;
  uint32_t tid;
  {
    const Waiting ends("ends");
    tid = ends.tid();
    threads.look(static_cast<uint32_t>(::getpid()));
  }
  threads.look(static_cast<uint32_t>(::getpid()));
  threads.look(0);  // no such process
  const std::vector<Thread> all = threads.all();
  ASSERT_NE(with_tid(all, tid), nullptr);
  EXPECT_EQ(with_tid(all, tid)->name, "ends");
}

}  // namespace
}  // namespace penna::quiet_threads_test
