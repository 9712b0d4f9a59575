// SPDX-License-Identifier: MIT
// The kernel's side: it accepts the programs, and reports each hit of a function of this very process with its
// registers and its stack; or it refuses, and the sentence says what to do.
#include "breakpoint/uprobe_ring.h"

#include <gtest/gtest.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

namespace penna {
namespace {

extern "C" __attribute__((noinline)) int penna_uprobed(int number) {
  __asm__ volatile("" ::: "memory");
  return number + 1;
}

extern "C" void penna_locked(int* number);
__asm__(".text\npenna_locked: lock decl (%rdi)\nret\n");

// Position-independent: found by the mapping that contains it.
uint64_t offset_in_file(const void* code) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uint64_t start = 0, end = 0, offset = 0;
    char rights[8];
    if (std::sscanf(line.c_str(), "%lx-%lx %7s %lx", &start, &end, rights, &offset) != 4) continue;
    const auto at = reinterpret_cast<uint64_t>(code);
    if (at >= start && at < end) return at - start + offset;
  }
  return 0;
}

constexpr char kSelf[] = "/proc/self/exe";

class UprobeRingTest : public ::testing::Test {
 protected:
  UprobeRingTest() : ring_(UprobeRing::make()) {}
  // Where the kernel refuses uprobes, only the refusal can be tested.
  bool is_refused() const {
    if (ring_) return false;
    EXPECT_NE(ring_.error().text.find("uprobes are not available, since the kernel refuses"), std::string::npos);
    EXPECT_TRUE(::geteuid() != 0 || ring_.error().text.find("run penna") == std::string::npos) << ring_.error().text;
    return true;
  }
  std::vector<Fd> set(UprobeCopies copies) {
    const auto at = reinterpret_cast<const void*>(penna_uprobed);
    auto made = ring_->set(::getpid(), kSelf, {{offset_in_file(at), 0, copies, PENNA_CALLS}});
    EXPECT_TRUE(made) << (made ? "" : made.error().text);
    return made ? std::move(made->links) : std::vector<Fd>();
  }
  // Calls seen(record) with each hit so far; their number.
  template <typename Seen>
  int hits(Seen&& seen) {
    int count = 0;
    ring_->read([&](const UprobeRecord& record) {
      if (record.head.kind != UprobeKind::kHit && record.head.kind != UprobeKind::kReturned) return;
      ++count;
      seen(record);
    });
    return count;
  }
  int hits() {
    return hits([](const UprobeRecord&) {});
  }

  Result<UprobeRing> ring_;
};

TEST_F(UprobeRingTest, ReportsEachHitWithItsRegisters) {
  if (is_refused()) return;
  for (const UprobeCopies copies :
       {UprobeCopies::kWord, UprobeCopies::kArgument, UprobeCopies::kStack, UprobeCopies::kStackAndArgument}) {
    const std::vector<Fd> links = set(copies);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(penna_uprobed(i), i + 1);
    int next = 0;
    const int count = hits([&](const UprobeRecord& record) {
      user_regs_struct registers{};
      std::memcpy(&registers, record.registers, sizeof record.registers);
      EXPECT_EQ(registers.rip, reinterpret_cast<uint64_t>(penna_uprobed));
      EXPECT_EQ(static_cast<int>(registers.rdi), next++);
      EXPECT_EQ(record.head.process, static_cast<uint32_t>(::getpid()));
      EXPECT_EQ(record.head.thread, static_cast<uint32_t>(::gettid()));
      const bool with_stack = copies == UprobeCopies::kStack || copies == UprobeCopies::kStackAndArgument;
      EXPECT_EQ(record.stack_at, registers.rsp - (with_stack ? 128 : 0));
      if (with_stack)
        EXPECT_GT(record.stack_bytes, 128u);
      else
        EXPECT_EQ(record.stack_bytes, 8u);
      // The return address: in this function.
      uint64_t returns_to = 0;
      std::memcpy(&returns_to, record.stack + (registers.rsp - record.stack_at), sizeof returns_to);
      EXPECT_EQ(offset_in_file(reinterpret_cast<const void*>(returns_to)) >> 20,
                offset_in_file(reinterpret_cast<const void*>(penna_uprobed)) >> 20);
    });
    EXPECT_EQ(count, 10) << static_cast<int>(copies);
  }
}

TEST_F(UprobeRingTest, ReportsReturnsWithTheirResult) {
  if (is_refused()) return;
  const std::vector<Fd> links = set(UprobeCopies::kReturned);
  EXPECT_EQ(penna_uprobed(41), 42);
  const int count = hits([](const UprobeRecord& record) {
    user_regs_struct registers{};
    std::memcpy(&registers, record.registers, sizeof record.registers);
    EXPECT_EQ(record.head.kind, UprobeKind::kReturned);
    EXPECT_EQ(static_cast<int>(registers.rax), 42);
    EXPECT_NE(offset_in_file(reinterpret_cast<const void*>(registers.rip)), 0u);
  });
  EXPECT_EQ(count, 1);
}

// A locked instruction cannot be probed, and does not keep others from it.
TEST_F(UprobeRingTest, NamesWhatTheKernelCannotProbe) {
  if (is_refused()) return;
  const uint64_t locked = offset_in_file(reinterpret_cast<const void*>(penna_locked)),
                 other = offset_in_file(reinterpret_cast<const void*>(penna_uprobed));
  const auto made = ring_->set(
      ::getpid(), kSelf, {{locked, 0, UprobeCopies::kWord, PENNA_CALLS}, {other, 0, UprobeCopies::kWord, PENNA_CALLS}});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->refused, std::vector<uint64_t>{locked});
  penna_uprobed(1);
  EXPECT_EQ(hits(), 1);
}

TEST_F(UprobeRingTest, NothingIsReportedWithoutALink) {
  if (is_refused()) return;
  set(UprobeCopies::kWord).clear();
  penna_uprobed(1);
  EXPECT_EQ(hits(), 0);
}

// Whose stack ends a few hundred bytes further.
TEST_F(UprobeRingTest, AStackIsCopiedUpToItsEnd) {
  if (is_refused()) return;
  const std::vector<Fd> links = set(UprobeCopies::kStack);
  std::thread([] { penna_uprobed(1); }).join();
  const int count = hits([](const UprobeRecord& record) {
    EXPECT_EQ((record.stack_at + record.stack_bytes) % 4096, 0u);
    EXPECT_NE(record.head.thread, record.head.process);
  });
  EXPECT_EQ(count, 1);
}

TEST_F(UprobeRingTest, CountsWhatFindsNoRoom) {
  if (is_refused()) return;
  const std::vector<Fd> links = set(UprobeCopies::kStack);
  constexpr int kMany = 3000;  // of 12 KiB in 16 MiB
  for (int i = 0; i < kMany; ++i) penna_uprobed(i);
  const uint64_t lost = ring_->take_lost(PENNA_CALLS);
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(hits() + static_cast<int>(lost), kMany);
  EXPECT_EQ(ring_->take_lost(PENNA_CALLS), 0u);
}

TEST_F(UprobeRingTest, ReportsForksOfTheProcessesThatAreNamed) {
  if (is_refused()) return;
  const auto forks = [&] {
    int count = 0;
    ring_->read([&](const UprobeRecord& record) {
      if (record.head.kind != UprobeKind::kFork) return;
      EXPECT_EQ(record.head.process, static_cast<uint32_t>(::getpid()));
      ++count;
    });
    return count;
  };
  const auto fork_once = [] {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    int status = 0;
    ::waitpid(child, &status, 0);
  };
  fork_once();
  EXPECT_EQ(forks(), 0);
  ASSERT_TRUE(ring_->report_processes(::getpid(), true));
  fork_once();
  std::thread([] {}).join();
  EXPECT_EQ(forks(), 1);
}

}  // namespace
}  // namespace penna
