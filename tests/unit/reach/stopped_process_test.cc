// SPDX-License-Identifier: MIT
// All threads of a child are stopped for a while, and none of them notices.
#include "reach/process/stopped_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include "reach/process/cut_call_x86_64.h"

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

// A write to a pipe that is full returns what it has written, once it is stopped: the rest is written as well.
TEST(StoppedInAWrite, WritesTheRest) {
  constexpr size_t kBytes = 1 << 20;
  const std::span<const uint8_t> code = finishing_code();
  void* const there = ::mmap(nullptr, code.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(there, code.data(), code.size());
  ASSERT_EQ(0, ::mprotect(there, code.size(), PROT_READ | PROT_EXEC));
  int ends[2];
  ASSERT_EQ(0, ::pipe2(ends, O_CLOEXEC));
  std::vector<char> bytes(kBytes);
  for (size_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<char>(i * 7 + i / 251);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::_exit(::write(ends[1], bytes.data(), kBytes) == kBytes ? 0 : 1);
  }
  ::close(ends[1]);
  const auto waits = [child] { return may_be_cut(child, child); };
  for (int stop = 0; stop < 3; ++stop) {
    while (!waits()) ::usleep(1000);
    auto process = StoppedProcess::stop(child);
    ASSERT_TRUE(process) << process.error().text;
    process->finish_calls_at(CodePtr(reinterpret_cast<uintptr_t>(there)));
  }
  std::vector<char> got(kBytes + 1);
  size_t at = 0;
  for (ssize_t one; (one = ::read(ends[0], got.data() + at, got.size() - at)) > 0;) at += static_cast<size_t>(one);
  got.resize(at);
  EXPECT_TRUE(got == bytes) << at << " bytes";
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(0, status);
  ::close(ends[0]);
  ::munmap(there, code.size());
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
