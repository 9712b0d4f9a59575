// SPDX-License-Identifier: MIT
// Slots in pages of our own making: what is written, what is refused, and how the page is left.
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
constexpr size_t kBytes = 1 << 20;

struct Bytes {
  unsigned char at[PENNA_SLOT_BYTES];
};
const Bytes kOff = {PENNA_DISABLED_SLOT};

Bytes jump(uintptr_t slot, uintptr_t target) {
  Bytes code;
  EXPECT_TRUE(penna_arch_armed_slot(slot, target, code.at));
  return code;
}

// Code from a file, private, as a loader maps it: a slot and a ret every 16 bytes.
class Code {
 public:
  Code() {
    char path[] = "/tmp/penna-patch-XXXXXX";
    int file = mkstemp(path);
    unlink(path);
    text_.assign(kBytes, '\xc3');
    for (size_t at = 0; at < kBytes; at += 16) std::memcpy(&text_[at], "\x0f\x1f\x44\x00\x50\xc3", 6);
    EXPECT_EQ(write(file, text_.data(), kBytes), static_cast<ssize_t>(kBytes));
    at_ = static_cast<uint8_t*>(mmap(nullptr, kBytes, kCode, MAP_PRIVATE, file, 0));
    close(file);
  }
  ~Code() { munmap(at_, kBytes); }
  uintptr_t slot(size_t number) const { return reinterpret_cast<uintptr_t>(at_) + number * 16; }
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
  bool replace(const Code& code, uintptr_t slot, const Bytes& from, const Bytes& to) {
    penna_elf_range range = code.range();
    return penna_patch_slot(&patcher, &range, slot, from.at, to.at) != 0;
  }
  void finish() { penna_finish_patching(&patcher); }
};

constexpr size_t kSome[] = {0, 5, 255, 256, 511, 20000, 40000, 65535, 3};

TEST(Patch, WritesSlotsAndPutsThemBack) {
  Code code;
  Patching patching;
  for (size_t i : kSome)
    EXPECT_TRUE(patching.replace(code, code.slot(i), kOff, jump(code.slot(i), code.slot(i) + 100)));
  patching.finish();
  for (size_t i : kSome) {
    EXPECT_TRUE(penna_slot_holds(code.slot(i), jump(code.slot(i), code.slot(i) + 100).at));
    EXPECT_EQ(permissions(code.slot(i)), "r-xp");
  }
  EXPECT_EQ(code.bytes()[0], 0xe9);
  EXPECT_EQ(code.bytes()[1], 95);
  EXPECT_EQ(code.bytes()[5], 0xc3);  // the neighbour
  for (size_t i : kSome)
    EXPECT_TRUE(patching.replace(code, code.slot(i), jump(code.slot(i), code.slot(i) + 100), kOff));
  patching.finish();
  EXPECT_TRUE(code.is_as_in_the_file());
}

// Without /proc/self/mem pages are replaced: the same in everything but their names.
TEST(Patch, WritesSlotsWithoutTheMemoryFile) {
  Code code;
  Patching patching;
  patching.patcher.memory = -1;
  for (size_t i : kSome)
    EXPECT_TRUE(patching.replace(code, code.slot(i), kOff, jump(code.slot(i), code.slot(i) + 100)));
  for (size_t i : kSome) {
    EXPECT_TRUE(penna_slot_holds(code.slot(i), jump(code.slot(i), code.slot(i) + 100).at));
    EXPECT_EQ(permissions(code.slot(i)), "r-xp");
  }
  for (size_t i : kSome)
    EXPECT_TRUE(patching.replace(code, code.slot(i), jump(code.slot(i), code.slot(i) + 100), kOff));
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
    EXPECT_EQ(code.bytes()[4096 + 4], 0x50);
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
      ASSERT_TRUE(patching.replace(code, code.slot(1), kOff, jump(code.slot(1), code.slot(2))));
      ASSERT_TRUE(patching.replace(code, code.slot(65535), kOff, jump(code.slot(65535), code.slot(2))));
      patching.finish();
    }
  stop = true;
  watcher.join();
  EXPECT_EQ(writable, 0);
}

TEST(Patch, RefusesWhatItDoesNotKnow) {
  Code code;
  Patching patching;
  Bytes there = jump(code.slot(1), code.slot(2));
  EXPECT_FALSE(patching.replace(code, code.slot(1) + 5, kOff, there));  // no slot there
  EXPECT_FALSE(patching.replace(code, code.slot(1) + 4, kOff, there));  // would straddle two words
  ASSERT_TRUE(patching.replace(code, code.slot(1), kOff, there));
  EXPECT_FALSE(patching.replace(code, code.slot(1), kOff, there));  // already something else
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
  EXPECT_FALSE(patching.replace(code, code.slot(1), kOff, jump(code.slot(1), code.slot(2))));
  patching.finish();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &all), 0);
  EXPECT_TRUE(code.is_as_in_the_file());
  EXPECT_TRUE(patching.replace(code, code.slot(1), kOff, jump(code.slot(1), code.slot(2))));
  patching.finish();
}

TEST(Patch, KnowsWhereASlotFits) {
  for (uintptr_t offset = 0; offset < 16; ++offset)
    EXPECT_EQ(penna_arch_slot_fits(offset) != 0, offset % 8 <= 3) << offset;
}

TEST(Patch, AJumpReachesTwoGigabytes) {
  unsigned char code[PENNA_SLOT_BYTES];
  EXPECT_TRUE(penna_arch_armed_slot(0x10000000000, 0x10000000000 + 5 + INT32_MAX, code));
  EXPECT_FALSE(penna_arch_armed_slot(0x10000000000, 0x10000000000 + 6 + uint64_t{INT32_MAX}, code));
  EXPECT_TRUE(penna_arch_armed_slot(0x10000000000, 0x10000000000 + 5 - 0x80000000, code));
  EXPECT_FALSE(penna_arch_armed_slot(0x10000000000, 0x10000000000 + 4 - 0x80000000, code));
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

// By either view.
TEST(Patch, ThreadsRunThroughASlotWhileItChanges) {
  for (int memory : {0, -1}) {
    Code code;
    uintptr_t slot = code.slot(3);
    Bytes there = jump(slot, code.slot(4));
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> passes{0};
    auto run = [&] {
      while (!stop.load(std::memory_order_relaxed)) {
        for (int i = 0; i < 1000; ++i) reinterpret_cast<void (*)()>(slot)();
        passes.fetch_add(1000, std::memory_order_relaxed);
      }
    };
    std::thread a(run), b(run);
    penna_prepare_patching();
    while (passes.load() < 1000) std::this_thread::yield();
    for (int i = 0; i < 3000; ++i) {
      Patching patching;
      patching.patcher.memory = memory;
      ASSERT_TRUE(patching.replace(code, slot, i % 2 == 0 ? kOff : there, i % 2 == 0 ? there : kOff));
      patching.finish();
    }
    stop = true;
    a.join();
    b.join();
    EXPECT_TRUE(penna_slot_holds(slot, kOff.at));
  }
}

}  // namespace
