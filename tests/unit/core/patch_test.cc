// SPDX-License-Identifier: MIT
// Slots in handmade pages: what is written, what is refused, and the final state of the page.
#include "penna/detail/patch.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

namespace {

constexpr int kCode = PROT_READ | PROT_EXEC;
constexpr size_t kBytes = 1 << 20, kApart = 17, kSlots = kBytes / kApart;

enum { kOff, kArmed };

// Where the slots of Code go: a ret.
constexpr int32_t kDistance = 90;

penna_slot_change change(uintptr_t slot, int armed) {
  penna_slot_change change{slot, armed, {}, {}};
  EXPECT_TRUE(penna_arch_slot(slot, slot + 5 + kDistance, armed, change.to));
  EXPECT_TRUE(penna_arch_slot(slot, slot + 5 + kDistance, !armed, change.from));
  return change;
}

// Code from a file, private, as a loader maps it: a slot and a ret every 17 bytes, so at each place of a cache line.
class Code {
 public:
  Code() {
    char path[] = "/tmp/penna-patch-XXXXXX";
    int file = mkstemp(path);
    unlink(path);
    text_.assign(kBytes, '\xc3');
    for (size_t i = 0; i < kSlots; ++i) std::memcpy(&text_[i * kApart], "\xa9\x5a\0\0\0\xc3", 6);
    EXPECT_EQ(write(file, text_.data(), kBytes), static_cast<ssize_t>(kBytes));
    at_ = static_cast<uint8_t*>(mmap(nullptr, kBytes, kCode, MAP_PRIVATE, file, 0));
    close(file);
  }
  ~Code() { munmap(at_, kBytes); }
  uintptr_t slot(size_t number) const { return reinterpret_cast<uintptr_t>(at_) + number * kApart; }
  const uint8_t* bytes() const { return at_; }
  penna_elf_range range() const { return {slot(0), slot(0) + kBytes, kCode}; }
  bool is_as_in_the_file() const { return std::memcmp(at_, text_.data(), kBytes) == 0; }

 private:
  uint8_t* at_;
  std::string text_;
};

// What /proc/self/maps says of `address`: "r-xp".
std::string permissions(uintptr_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t start, end;
    char flags[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &start, &end, flags) == 3 && address >= start && address < end)
      return flags;
  }
  return "";
}

struct Patching {
  penna_switchboard board{};
  penna_patcher patcher{&board, 0, 0};
  bool write(const Code& code, uintptr_t slot, int armed) {
    const penna_elf_range range = code.range();
    const penna_slot_change wanted = change(slot, armed);
    return penna_patch_slot(&patcher, &range, &wanted) != 0;
  }
  void finish() { penna_finish_patching(&patcher); }
};

constexpr size_t kSome[] = {0, 5, 240, 241, 511, 3132, 40000, kSlots - 1, 3};  // 3132 lies in two pages
static_assert(3132 * kApart / 4096 != (3132 * kApart + PENNA_SLOT_BYTES - 1) / 4096);

TEST(Patch, WritesSlotsAndPutsThemBack) {
  Code code;
  Patching patching;
  for (size_t i : kSome) EXPECT_TRUE(patching.write(code, code.slot(i), kArmed));
  patching.finish();
  for (size_t i : kSome) {
    EXPECT_TRUE(penna_slot_holds(code.slot(i), change(code.slot(i), kArmed).to));
    EXPECT_EQ(permissions(code.slot(i)), "r-xp");
  }
  EXPECT_EQ(code.bytes()[0], 0xe9);
  EXPECT_EQ(code.bytes()[1], kDistance);
  EXPECT_EQ(code.bytes()[5], 0xc3);  // the neighbour
  for (size_t i : kSome) EXPECT_TRUE(patching.write(code, code.slot(i), kOff));
  patching.finish();
  EXPECT_TRUE(code.is_as_in_the_file());
}

// Without /proc/self/mem pages are replaced: the same in everything but their names.
TEST(Patch, WritesSlotsWithoutTheMemoryFile) {
  Code code;
  Patching patching;
  patching.patcher.memory = -1;
  for (size_t i : kSome) EXPECT_TRUE(patching.write(code, code.slot(i), kArmed));
  for (size_t i : kSome) {
    EXPECT_TRUE(penna_slot_holds(code.slot(i), change(code.slot(i), kArmed).to));
    EXPECT_EQ(permissions(code.slot(i)), "r-xp");
  }
  for (size_t i : kSome) EXPECT_TRUE(patching.write(code, code.slot(i), kOff));
  patching.finish();
  EXPECT_TRUE(code.is_as_in_the_file());
}

TEST(Patch, WritesAcrossPages) {
  for (int memory : {0, -1}) {
    Code code;
    Patching patching;
    patching.patcher.memory = memory;
    unsigned char bytes[9000];
    std::memset(bytes, 0x90, sizeof bytes);
    const uintptr_t at = code.slot(0) + 4096 - 3;
    const penna_elf_range range = code.range();
    EXPECT_TRUE(penna_write_code(&patching.patcher, &range, at, bytes, 7));
    EXPECT_EQ(std::memcmp(reinterpret_cast<void*>(at), bytes, 7), 0);
    EXPECT_EQ(code.bytes()[4096 - 4], 0xc3);
    EXPECT_EQ(code.bytes()[4096 + 4], 0x00);  // of slot 241
    patching.finish();
  }
}

TEST(Patch, NoPageIsWritableMeanwhile) {
  std::atomic<bool> stop{false};
  std::atomic<int> looks{0};
  int writable = 0;
  std::thread watcher([&] {
    while (!stop) {
      std::ifstream maps("/proc/self/maps");
      for (std::string line; std::getline(maps, line);) writable += line.find(" rwx") != std::string::npos;
      ++looks;
    }
  });
  for (int memory : {0, -1})
    for (int round = 0, begun = looks; round < 200 || looks < begun + 20; ++round) {
      Code code;
      Patching patching;
      patching.patcher.memory = memory;
      ASSERT_TRUE(patching.write(code, code.slot(1), kArmed));
      ASSERT_TRUE(patching.write(code, code.slot(kSlots - 1), kArmed));
      patching.finish();
    }
  stop = true;
  watcher.join();
  EXPECT_EQ(writable, 0);
}

TEST(Patch, RefusesWhatItDoesNotKnow) {
  Code code;
  Patching patching;
  EXPECT_FALSE(patching.write(code, code.slot(1) + 5, kArmed));  // no slot there
  penna_slot_change other = change(code.slot(1), kArmed);
  other.from[4] = other.to[4] = 1;  // one that leads elsewhere
  const penna_elf_range range = code.range();
  EXPECT_FALSE(penna_patch_slot(&patching.patcher, &range, &other));
  ASSERT_TRUE(patching.write(code, code.slot(1), kArmed));
  EXPECT_FALSE(patching.write(code, code.slot(1), kArmed));  // already something else
  patching.finish();
  EXPECT_EQ(permissions(code.slot(1)), "r-xp");
}

TEST(Patch, RefusesWhereTheSystemDoes) {
  Code code;
  Patching patching;
  rlimit all, none{0, 0};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &all), 0);
  none.rlim_max = all.rlim_max;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);  // no view of a page without a descriptor
  EXPECT_FALSE(patching.write(code, code.slot(1), kArmed));
  patching.finish();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &all), 0);
  EXPECT_TRUE(code.is_as_in_the_file());
  EXPECT_TRUE(patching.write(code, code.slot(1), kArmed));
  patching.finish();
}

// However the kernel copies it, a running thread sees the one or the other.
TEST(Patch, OneByteArmsASlot) {
  const penna_slot_change armed = change(0x10003, kArmed);
  EXPECT_NE(armed.from[0], armed.to[0]);
  EXPECT_EQ(std::memcmp(armed.from + 1, armed.to + 1, PENNA_SLOT_BYTES - 1), 0);
  static_assert(sizeof(penna_slot_unit) == 1);
}

TEST(Patch, AJumpReachesTwoGigabytes) {
  unsigned char code[PENNA_SLOT_BYTES];
  EXPECT_TRUE(penna_arch_slot(0x10000000000, 0x10000000000 + 5 + INT32_MAX, kArmed, code));
  EXPECT_FALSE(penna_arch_slot(0x10000000000, 0x10000000000 + 6 + uint64_t{INT32_MAX}, kArmed, code));
  EXPECT_TRUE(penna_arch_slot(0x10000000000, 0x10000000000 + 5 - 0x80000000, kArmed, code));
  EXPECT_FALSE(penna_arch_slot(0x10000000000, 0x10000000000 + 4 - 0x80000000, kArmed, code));
}

// A process is forked while another of its threads patches: the child finds the lock held. Of an older header's, a window may be open.
TEST(Patch, AForkedChildTakesTheLockAndClosesTheWindow) {
  Code code;
  Patching patching;
  penna_lock_board(&patching.board);
  EXPECT_FALSE(penna_try_lock_board(&patching.board));  // not twice, from whatever thread
  patching.board.window_at = code.slot(0);
  patching.board.window_protection = kCode;
  patching.board.window_bytes = 4096;
  ASSERT_EQ(mprotect(reinterpret_cast<void*>(code.slot(0)), 4096, kCode | PROT_WRITE), 0);
  pid_t child = fork();
  if (child == 0) {
    bool open = permissions(code.slot(1)) == "rwxp";
    penna_lock_board(&patching.board);
    _exit(open && permissions(code.slot(1)) == "r-xp" ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  penna_close_window(&patching.board);
  EXPECT_EQ(permissions(code.slot(1)), "r-xp");
  penna_unlock_board(&patching.board);
}

// By either view, and at each place of a cache line.
TEST(Patch, ThreadsRunThroughSlotsWhileTheyChange) {
  for (int memory : {0, -1}) {
    Code code;
    constexpr size_t kRun = 64;
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> passes{0};
    auto run = [&] {
      while (!stop.load(std::memory_order_relaxed)) {
        for (size_t i = 0; i < 1024; ++i) reinterpret_cast<void (*)()>(code.slot(i % kRun))();
        passes.fetch_add(1024, std::memory_order_relaxed);
      }
    };
    std::thread a(run), b(run);
    penna_prepare_patching();
    while (passes.load() < 1024) std::this_thread::yield();
    for (int round = 0; round < (memory == 0 ? 1000 : 50); ++round) {
      Patching patching;
      patching.patcher.memory = memory;
      for (size_t i = 0; i < kRun; ++i) ASSERT_TRUE(patching.write(code, code.slot(i), round % 2 == 0 ? kArmed : kOff));
      patching.finish();
    }
    stop = true;
    a.join();
    b.join();
    EXPECT_TRUE(code.is_as_in_the_file());
  }
}

}  // namespace
