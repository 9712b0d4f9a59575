// SPDX-License-Identifier: MIT
// call_in() on processes that compute, sleep, wait in system calls, get signals, or are stopped: each must continue as
// if nothing had happened. The process is a fork of the test, so the code to run is at the same address in it.
#include "reach/process/remote_call.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>

#include "penna/detail/remote.h"

namespace penna::remote_call_test {
namespace {

struct Shared {
  volatile int calls;
  volatile int ready;
  volatile int signals;
  volatile int rounds;
  volatile int wait;  // what is run goes on
};
Shared* shared;

// The end of a stack behind which nothing is mapped, as behind that of many threads: whatever puts the state back that
// lies at its top must not read any further.
uintptr_t stack_top() {
  constexpr size_t kBytes = 64 << 10, kGuard = 64 << 10;
  static const auto start =
      reinterpret_cast<uintptr_t>(::mmap(nullptr, kBytes + kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ::mprotect(reinterpret_cast<void*>(start), kBytes, PROT_READ | PROT_WRITE);
  return start + kBytes;
}

}  // namespace

extern "C" {
// Spoils what a careless caller would forget to put back.
__attribute__((used)) void penna_test_remote_work() {
  double values[4] = {1, 2, 3, 4};
  for (double& value : values) value = std::sqrt(value) * shared->calls;
  asm volatile("" : : "r"(values) : "memory");
  asm volatile("pxor %%xmm0, %%xmm0; pxor %%xmm7, %%xmm7; pxor %%xmm15, %%xmm15" : : : "xmm0", "xmm7", "xmm15");
  shared->calls = shared->calls + 1;
}
// Until it is told to end, or for so long that whoever waits for it has given up.
__attribute__((used)) void penna_test_remote_wait() {
  penna_test_remote_work();
  while (shared->wait != 0) asm volatile("pause");
}
void penna_test_remote_entry();
void penna_test_remote_end();
void penna_test_remote_slow();
void penna_test_remote_slow_end();
void penna_test_remote_fault();
void penna_test_remote_loop();
void penna_test_remote_become();
__attribute__((used)) void penna_test_remote_exec() { ::execl("/bin/sh", "sh", "-c", "exit 9", nullptr); }
}
asm(".text\n"
    PENNA_REMOTE_CODE("penna_test_remote_entry", "penna_test_remote_end", "penna_test_remote_work")
    PENNA_REMOTE_CODE("penna_test_remote_slow", "penna_test_remote_slow_end", "penna_test_remote_wait")
    "penna_test_remote_fault: movl $0, 0\n"
    "penna_test_remote_loop: jmp penna_test_remote_loop\n"
    "penna_test_remote_become: call penna_test_remote_exec\n ud2\n");

namespace {

RemoteCode code_between(void (*entry)(), void (*end)()) {
  return {RemoteBytes(reinterpret_cast<uintptr_t>(entry)), RemoteBytes(reinterpret_cast<uintptr_t>(end)),
          RemoteBytes(stack_top())};
}
RemoteCode code_at(void (*entry)()) { return code_between(entry, &penna_test_remote_end); }
RemoteCode code() { return code_at(&penna_test_remote_entry); }

// The result of fork(). Throws if it failed: kill(-1) would signal every process of the machine.
pid_t forked(pid_t pid) {
  if (pid < 0) throw std::runtime_error("fork failed");
  return pid;
}

class RemoteCallTest : public testing::Test {
 protected:
  void SetUp() override {
    shared = static_cast<Shared*>(
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(shared, MAP_FAILED);
    ASSERT_GT(stack_top(), 4096u);  // the child has it, too
    ASSERT_EQ(::pipe(pipe_), 0);
  }
  void TearDown() override {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::munmap(shared, sizeof *shared);
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }

  // The child runs `body` and exits with what it returns.
  void start(const std::function<int()>& body) {
    pid_ = forked(::fork());
    if (pid_ == 0) {
      ::alarm(60);
      const int status = body();
      ::_exit(status);
    }
  }
  void await_ready() {
    while (shared->ready == 0) ::usleep(1000);
    ::usleep(20'000);  // and now it is most likely in the call that it announced
  }
  int finish() {
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  void call_often(int times) {
    for (int i = 0; i < times; ++i) {
      auto result = call_in(pid_, code());
      ASSERT_TRUE(result) << result.error().text;
    }
    EXPECT_EQ(shared->calls, times);
  }

  pid_t pid_ = 0;
  int pipe_[2] = {-1, -1};
};

TEST_F(RemoteCallTest, AComputationGivesTheSame) {
  start([] {
    auto compute = [] {
      double sum = 0;
      uint64_t hash = 1;
      for (int i = 1; i < 20'000; ++i) {
        sum += std::sin(i) / i;
        hash = hash * 31 + static_cast<uint64_t>(i);
      }
      return std::pair<double, uint64_t>(sum, hash);
    };
    const auto expected = compute();
    shared->ready = 1;
    while (shared->calls < 300) {
      if (compute() != expected) return 3;
      shared->rounds = shared->rounds + 1;
    }
    return 7;
  });
  await_ready();
  call_often(300);
  EXPECT_EQ(finish(), 7);
}

TEST_F(RemoteCallTest, AReadGoesOnWaiting) {
  start([&] {
    shared->ready = 1;
    char byte = 0;
    const ssize_t got = ::read(pipe_[0], &byte, 1);
    return got == 1 && byte == 'x' ? 7 : 3;
  });
  await_ready();
  call_often(50);
  ASSERT_EQ(::write(pipe_[1], "x", 1), 1);
  EXPECT_EQ(finish(), 7);
}

TEST_F(RemoteCallTest, AWriteWritesAll) {
  static char bytes[1 << 20], got[sizeof bytes];
  for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = static_cast<char>(i * 7 + i / 251);
  start([&] {
    ::close(pipe_[0]);
    const rlimit small{256 << 10, 256 << 10};
    ::setrlimit(RLIMIT_STACK, &small);
    shared->ready = 1;
    constexpr size_t kFirst = 300'001;
    const iovec parts[] = {{bytes, kFirst}, {bytes + kFirst, sizeof bytes - kFirst}};
    return ::writev(pipe_[1], parts, 2) == sizeof bytes ? 7 : 3;
  });
  await_ready();
  call_often(500);  // and its stack does not grow by that
  for (size_t at = 0; at < sizeof bytes;) {
    const ssize_t one = ::read(pipe_[0], got + at, std::min<size_t>(sizeof bytes - at, 30'000));
    ASSERT_GT(one, 0);
    at += static_cast<size_t>(one);
    // It may have ended by now.
    if (at >= sizeof bytes / 2) continue;
    ASSERT_TRUE(call_in(pid_, code()));
  }
  EXPECT_TRUE(std::memcmp(got, bytes, sizeof bytes) == 0);
  EXPECT_EQ(finish(), 7);
}

TEST_F(RemoteCallTest, EpollDoesNotSeeEintr) {
  start([&] {
    const int epoll = ::epoll_create1(0);
    epoll_event event{};
    event.events = EPOLLIN;
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, pipe_[0], &event);
    shared->ready = 1;
    const int got = ::epoll_wait(epoll, &event, 1, -1);
    return got == 1 ? 7 : got < 0 && errno == EINTR ? 4 : 3;
  });
  await_ready();
  call_often(50);
  ASSERT_EQ(::write(pipe_[1], "x", 1), 1);
  EXPECT_EQ(finish(), 7);
}

TEST_F(RemoteCallTest, ASleepLastsAsLongAsItShould) {
  start([] {
    timespec begin, end, pause{2, 0};
    ::clock_gettime(CLOCK_MONOTONIC, &begin);
    shared->ready = 1;
    if (::nanosleep(&pause, nullptr) != 0) return 4;
    ::clock_gettime(CLOCK_MONOTONIC, &end);
    const double seconds =
        static_cast<double>(end.tv_sec - begin.tv_sec) + static_cast<double>(end.tv_nsec - begin.tv_nsec) * 1e-9;
    return seconds >= 2 ? 7 : 3;
  });
  await_ready();
  for (int i = 0; i < 20 && call_in(pid_, code()); ++i) {  // a busy machine may take so long that it has ended
  }
  EXPECT_GT(shared->calls, 0);
  EXPECT_EQ(finish(), 7);
}

TEST_F(RemoteCallTest, SignalsAreAllDelivered) {
  constexpr int kSignals = 2000;
  start([] {
    struct sigaction action {};
    action.sa_handler = [](int) { shared->signals = shared->signals + 1; };
    ::sigaction(SIGRTMIN, &action, nullptr);
    shared->ready = 1;
    while (shared->signals < kSignals) ::usleep(100);
    return 7;
  });
  await_ready();
  int calls = 0;
  for (int i = 0; i < kSignals; ++i) {
    sigval value{};
    while (::sigqueue(pid_, SIGRTMIN, value) != 0) ::usleep(100);
    if (i % 10 == 0 && i < kSignals - 10) {
      ASSERT_TRUE(call_in(pid_, code()));
      ++calls;
    }
  }
  EXPECT_EQ(shared->calls, calls);
  EXPECT_EQ(finish(), 7);
}

// A thread that is interrupted while the signal of its own fault waits gets that, once, and nothing of ours.
TEST_F(RemoteCallTest, FaultsComeToTheirHandlers) {
  static constexpr int kFaults = 4;
  static sigjmp_buf back;
  static volatile int seen[NSIG];
  start([] {
    struct sigaction action {};
    action.sa_handler = [](int signal) {
      seen[signal] = seen[signal] + 1;
      if (signal != SIGTRAP) ::siglongjmp(back, 1);
    };
    const int signals[kFaults] = {SIGTRAP, SIGSEGV, SIGILL, SIGFPE};
    for (int signal : signals) ::sigaction(signal, &action, nullptr);
    shared->ready = 1;
    int rounds = 0;
    for (; shared->signals == 0; ++rounds) {
      __asm__ volatile("int3");
      if (::sigsetjmp(back, 1) == 0) __asm__ volatile("movl $0, 8");
      if (::sigsetjmp(back, 1) == 0) __asm__ volatile("ud2");
      if (::sigsetjmp(back, 1) == 0) __asm__ volatile("div %0" : : "r"(0) : "eax", "edx");
    }
    for (int signal : signals)
      if (seen[signal] != rounds) return signal;
    return 77;
  });
  await_ready();
  call_often(1000);
  shared->signals = 1;
  EXPECT_EQ(finish(), 77);
}

TEST_F(RemoteCallTest, SignalsOfFaultsStayAsTheyWere) {
  start([] {
    ::signal(SIGTRAP, SIG_IGN);
    ::signal(SIGSEGV, SIG_IGN);
    sigset_t traps, mask;
    ::sigemptyset(&traps);
    ::sigaddset(&traps, SIGTRAP);
    ::sigprocmask(SIG_BLOCK, &traps, nullptr);
    shared->ready = 1;
    while (shared->signals == 0) ::usleep(1000);
    ::sigprocmask(SIG_BLOCK, nullptr, &mask);
    const bool blocked = ::sigismember(&mask, SIGTRAP) == 1 && ::sigismember(&mask, SIGSEGV) == 0;
    return ::signal(SIGTRAP, SIG_DFL) == SIG_IGN && ::signal(SIGSEGV, SIG_DFL) == SIG_IGN && blocked ? 7 : 3;
  });
  await_ready();
  call_often(20);
  shared->signals = 1;
  EXPECT_EQ(finish(), 7);
}

TEST_F(RemoteCallTest, OtherThreadsRunOn) {
  start([] {
    pthread_t thread;
    ::pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          for (;;) shared->rounds = shared->rounds + 1;
          return nullptr;
        },
        nullptr);
    shared->ready = 1;
    ::pause();
    return 3;
  });
  await_ready();
  call_often(100);
  const int rounds = shared->rounds;
  for (int i = 0; i < 5000 && shared->rounds == rounds; ++i) ::usleep(1000);
  EXPECT_NE(shared->rounds, rounds);
}

TEST_F(RemoteCallTest, AThreadOfAProgramWhoseMainThreadHasEnded) {
  start([] {
    pthread_t thread;
    ::pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          shared->ready = 1;
          while (shared->calls == 0) ::usleep(1000);
          ::_exit(7);
        },
        nullptr);
    ::syscall(SYS_exit, 0);  // of this thread only
    return 3;
  });
  await_ready();
  call_often(1);
  EXPECT_EQ(finish(), 7);
}

TEST_F(RemoteCallTest, AStoppedProcessStaysStopped) {
  start([] {
    shared->ready = 1;
    for (;;) shared->rounds = shared->rounds + 1;
    return 3;
  });
  await_ready();
  ::kill(pid_, SIGSTOP);
  int status = 0;
  ASSERT_EQ(::waitpid(pid_, &status, WUNTRACED), pid_);
  call_often(5);
  const int rounds = shared->rounds;
  ::usleep(50'000);
  EXPECT_EQ(shared->rounds, rounds);
  ::kill(pid_, SIGCONT);
  for (int i = 0; i < 5000 && shared->rounds == rounds; ++i) ::usleep(1000);
  EXPECT_NE(shared->rounds, rounds);
}

// ---- Who called is killed

constexpr double kLanes[8] = {1, 2, 3, 4, 5, 6, 7, 8};

// Sums in vector registers, which nobody saves who does not know of them; amid them, signals.
int compute_and_count_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { shared->signals = shared->signals + 1; };
  ::sigaction(SIGUSR1, &action, nullptr);
  stack_t other{};
  other.ss_sp = std::malloc(SIGSTKSZ);
  other.ss_size = SIGSTKSZ;
  ::sigaltstack(&other, nullptr);
  shared->ready = 1;
  int wrong = 0;
  while (shared->rounds == 0) {
    double sums[8];
    asm volatile(
        "movupd (%1), %%xmm0\n movupd 16(%1), %%xmm7\n movupd 32(%1), %%xmm14\n movupd 48(%1), %%xmm15\n"
        "mov $20000, %%ecx\n 1: addpd %%xmm0, %%xmm15\n subpd %%xmm0, %%xmm15\n dec %%ecx\n jnz 1b\n"
        "movupd %%xmm0, (%0)\n movupd %%xmm7, 16(%0)\n movupd %%xmm14, 32(%0)\n movupd %%xmm15, 48(%0)\n"
        :
        : "r"(sums), "r"(kLanes)
        : "ecx", "xmm0", "xmm7", "xmm14", "xmm15", "memory");
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): every bit counts
    wrong += std::memcmp(sums, kLanes, sizeof sums) != 0;
  }
  stack_t now{};
  ::sigaltstack(nullptr, &now);
  sigset_t mask;
  ::sigprocmask(SIG_BLOCK, nullptr, &mask);
  if (now.ss_sp != other.ss_sp || (now.ss_flags & SS_DISABLE) != 0) return 3;
  for (int signal = 1; signal < 32; ++signal)
    if (::sigismember(&mask, signal) == 1) return 4;
  return wrong == 0 ? 7 : 5;
}

// How many came to its handler, within ten seconds or when there are so many.
int await_signals(int count) {
  for (int waited = 0; waited < 10'000 && shared->signals < count; ++waited) ::usleep(1000);
  return shared->signals;
}

// A process that calls until it is killed.
pid_t fork_caller(pid_t pid, const RemoteCode& what) {
  const pid_t caller = forked(::fork());
  if (caller == 0)
    for (;;) (void)call_in(pid, what);
  return caller;
}

void kill_caller(pid_t caller) {
  ::kill(caller, SIGKILL);
  ::waitpid(caller, nullptr, 0);
}

TEST_F(RemoteCallTest, TheEndOfWhoCallsLeavesTheThreadAsItWas) {
  start(compute_and_count_signals);
  await_ready();
  int sent = 0;
  for (int i = 0; i < 40; ++i) {
    const int calls = shared->calls;
    const pid_t caller = fork_caller(pid_, code());
    for (int waited = 0; waited < 2000 && shared->calls == calls; ++waited) ::usleep(500);
    ::usleep(static_cast<unsigned>(i * 80));
    kill_caller(caller);
    ::kill(pid_, SIGUSR1);
    ++sent;
    ASSERT_EQ(await_signals(sent), sent) << "signals are still blocked";
  }
  shared->rounds = 1;
  EXPECT_EQ(finish(), 7);
}

TEST_F(RemoteCallTest, TheEndOfWhoCallsAmidWhatIsRun) {
  const RemoteCode slow = code_between(&penna_test_remote_slow, &penna_test_remote_slow_end);
  start(compute_and_count_signals);
  await_ready();
  for (int i = 1; i <= 5; ++i) {
    const int calls = shared->calls;
    shared->wait = 1;
    const pid_t caller = fork_caller(pid_, slow);
    while (shared->calls == calls) ::usleep(100);
    kill_caller(caller);
    ::kill(pid_, SIGUSR1);
    ::usleep(2000);
    EXPECT_EQ(shared->signals, i - 1) << "it waits";
    shared->wait = 0;
    EXPECT_TRUE(call_in(pid_, code())) << "the next caller must wait until the thread is back";
    ASSERT_EQ(await_signals(i), i);
  }
  shared->rounds = 1;
  EXPECT_EQ(finish(), 7);
}

int sleep_for(int milliseconds) {
  timespec begin, end, pause{milliseconds / 1000, milliseconds % 1000 * 1'000'000L};
  ::clock_gettime(CLOCK_MONOTONIC, &begin);
  double sum = 1;  // in a register that who comes home has to put back
  asm volatile("movsd %0, %%xmm9" : : "m"(sum) : "xmm9");
  if (::syscall(SYS_nanosleep, &pause, nullptr) != 0) return 3;
  asm volatile("movsd %%xmm9, %0" : "=m"(sum));
  ::clock_gettime(CLOCK_MONOTONIC, &end);
  const long took = (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1'000'000;
  if (sum != 1 || took < milliseconds) return 4;
  sigset_t mask;
  ::sigprocmask(SIG_BLOCK, nullptr, &mask);
  return ::sigismember(&mask, SIGUSR1) == 1 ? 5 : 7;
}

// Its system calls begin anew; of a sleep there is what is left, also if it was stopped before.
TEST_F(RemoteCallTest, TheEndOfWhoCallsDuringASystemCall) {
  const RemoteCode slow = code_between(&penna_test_remote_slow, &penna_test_remote_slow_end);
  for (const int what : {0, 1, 2, 3, 4}) {
    *shared = {};
    start([this, what] {
      const int events = ::epoll_create1(0);
      epoll_event event{EPOLLIN, {}};
      ::epoll_ctl(events, EPOLL_CTL_ADD, pipe_[0], &event);
      pollfd poll{pipe_[0], POLLIN, 0};
      char byte = 0;
      shared->ready = 1;
      switch (what) {
        case 0: return ::read(pipe_[0], &byte, 1) == 1 ? 7 : 3;
        case 1: return ::poll(&poll, 1, 60'000) == 1 ? 7 : 3;
        case 2: return ::epoll_wait(events, &event, 1, 60'000) == 1 ? 7 : 3;
        default: return sleep_for(what == 3 ? 300 : 4000);
      }
    });
    await_ready();
    if (what == 4) call_often(3), ::usleep(1'000'000);
    const int calls = shared->calls;
    shared->wait = 1;
    const pid_t caller = fork_caller(pid_, slow);
    while (shared->calls == calls) ::usleep(100);
    kill_caller(caller);
    shared->wait = 0;
    if (what < 3) {
      ASSERT_EQ(::write(pipe_[1], "x", 1), 1);
    }
    EXPECT_EQ(finish(), 7) << what;
    char byte = 0;
    if (what == 1 || what == 2) {
      ASSERT_EQ(::read(pipe_[0], &byte, 1), 1);
    }
  }
}

// One that is late, as the machine is busy, finds the thread at home.
TEST_F(RemoteCallTest, WhoComesTooLateLeavesTheThreadAlone) {
  start(compute_and_count_signals);
  await_ready();
  for (int i = 1; i <= 3; ++i) {
    shared->wait = 1;
    const pid_t caller = forked(::fork());
    if (caller == 0) ::_exit(call_in(pid_, code_between(&penna_test_remote_slow, &penna_test_remote_slow_end)) ? 0 : 1);
    while (shared->calls < i) ::usleep(100);
    ::kill(caller, SIGSTOP);
    shared->wait = 0;
    ::kill(pid_, SIGUSR1);
    ::usleep(600'000);
    ::kill(caller, SIGCONT);
    int status = 0;
    ASSERT_EQ(::waitpid(caller, &status, 0), caller);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    ASSERT_EQ(await_signals(i), i);
  }
  shared->rounds = 1;
  EXPECT_EQ(finish(), 7);
}

TEST_F(RemoteCallTest, CodeThatFaultsIsReportedAndTheProcessGoesOn) {
  start([&] {
    shared->ready = 1;
    char byte = 0;
    return ::read(pipe_[0], &byte, 1) == 1 ? 7 : 3;
  });
  await_ready();
  auto result = call_in(pid_, code_at(&penna_test_remote_fault));
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().text.find("did not return as expected"), std::string::npos);
  ASSERT_EQ(::write(pipe_[1], "x", 1), 1);
  EXPECT_EQ(finish(), 7);
}

// What hostile processes may offer to be run.

TEST_F(RemoteCallTest, CodeWithoutAnEndIsLeftAndTheProcessGoesOn) {
  start([] {
    shared->ready = 1;
    while (shared->signals == 0) ::usleep(1000);
    return 7;
  });
  await_ready();
  const auto result = call_in(pid_, code_at(&penna_test_remote_loop));
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().text.find("did not return"), std::string::npos);
  shared->signals = 1;
  EXPECT_EQ(finish(), 7);
}

TEST_F(RemoteCallTest, ExecMeanwhileLeavesTheNewProgramAlone) {
  start([] {
    shared->ready = 1;
    for (;;) ::pause();
    return 7;
  });
  await_ready();
  EXPECT_FALSE(call_in(pid_, code_at(&penna_test_remote_become)));
  EXPECT_EQ(finish(), 9);
}

TEST_F(RemoteCallTest, AProcessWithoutTheChannelIsNotLedAnywhere) {
  start([] {
    shared->ready = 1;
    while (shared->signals == 0) ::usleep(1000);
    return 7;
  });
  await_ready();
  RemoteCode of_another = code();
  of_another.channel = 1;
  const auto result = call_in(pid_, of_another);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().text.find("another program"), std::string::npos);
  shared->signals = 1;
  EXPECT_EQ(finish(), 7);
  EXPECT_EQ(shared->calls, 0);
}

TEST_F(RemoteCallTest, TheExitStatusIsLeftToItsParent) {
  start([] {
    shared->ready = 1;
    ::usleep(30'000);
    return 7;
  });
  while (shared->ready == 0) ::usleep(1000);
  while (call_in(pid_, code())) {
  }
  EXPECT_EQ(finish(), 7);
}

TEST_F(RemoteCallTest, NoSuchProcess) {
  auto result = call_in(0x3fffffff, code());
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().text.find("no thread"), std::string::npos);
}

}  // namespace
}  // namespace penna::remote_call_test
