// SPDX-License-Identifier: MIT
// All threads of a child are stopped for a while, and none of them notices.
#include "reach/stopped_process.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

namespace penna::stopped_process_test {
namespace {

constexpr int kThreads = 4;

struct Shared {
  std::atomic<uint64_t> rounds[kThreads];
  std::atomic<uint64_t> interrupted, waiting;
};

// Counts in all threads but one, which waits where a stop ends the call with EINTR.
[[noreturn]] void live(Shared* shared) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int i = 0; i < kThreads; ++i)
    std::thread([shared, i] {
      for (;;) ++shared->rounds[i];
    }).detach();
  const int epoll = ::epoll_create1(0);
  for (epoll_event event;;) {
    ++shared->waiting;
    if (::epoll_wait(epoll, &event, 1, 20) < 0) ++shared->interrupted;
  }
}

class StoppedProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    shared_ = static_cast<Shared*>(
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    child_ = ::fork();
    if (child_ == 0) live(shared_);
    for (auto& one : shared_->rounds)
      while (one == 0) ::usleep(1000);
  }
  void TearDown() override {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::munmap(shared_, sizeof(Shared));
  }
  uint64_t sum() const {
    uint64_t sum = 0;
    for (const auto& one : shared_->rounds) sum += one;
    return sum;
  }
  Shared* shared_ = nullptr;
  pid_t child_ = -1;
};

TEST_F(StoppedProcessTest, StandsStillAndGoesOn) {
  for (int i = 0; i < 30; ++i) {
    uint64_t stopped_at = 0;
    {
      const auto process = StoppedProcess::stop(child_);
      ASSERT_TRUE(process) << process.error().text;
      EXPECT_GE(process->threads().size(), size_t{kThreads} + 1);  // sanitizers have more
      stopped_at = sum();
      ::usleep(2000);
      EXPECT_EQ(sum(), stopped_at) << "a thread is still running";
    }
    while (sum() == stopped_at) ::usleep(100);
  }
  const uint64_t waited = shared_->waiting;
  while (shared_->waiting < waited + 2) ::usleep(1000);
  EXPECT_EQ(shared_->interrupted, 0U);
}

TEST_F(StoppedProcessTest, SaysWhenThereIsNone) {
  ::kill(child_, SIGKILL);
  siginfo_t info;
  ::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOWAIT);
  const auto process = StoppedProcess::stop(child_);
  ASSERT_FALSE(process);
  EXPECT_NE(process.error().text.find("has ended"), std::string::npos) << process.error().text;
}

}  // namespace
}  // namespace penna::stopped_process_test
