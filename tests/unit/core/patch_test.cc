// SPDX-License-Identifier: MIT
// Slots in pages of our own making: what is written, what is refused, and how the page is left.
#include "agent/patch.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace penna::agent {
namespace {

constexpr int kCode = PROT_READ | PROT_EXEC;

// Two pages of code from a file, private, as a loader maps them.
class Code {
 public:
  Code() {
    char path[] = "/tmp/penna-patch-XXXXXX";
    int file = mkstemp(path);
    unlink(path);
    std::string text(8192, '\xc3');  // ret
    for (size_t at = 0; at < text.size(); at += 16) std::memcpy(&text[at], "\x0f\x1f\x44\x00\x50\xc3", 6);
    EXPECT_EQ(write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    at_ = static_cast<uint8_t*>(mmap(nullptr, 8192, kCode, MAP_PRIVATE, file, 0));
    close(file);
  }
  ~Code() { munmap(at_, 8192); }
  uintptr_t slot(size_t number) const { return reinterpret_cast<uintptr_t>(at_) + number * 16; }
  const uint8_t* bytes() const { return at_; }

 private:
  uint8_t* at_;
};

// The permissions of the mapping that holds `address`: "r-xp".
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

class PatchTest : public ::testing::TestWithParam<PatchMode> {};

TEST_P(PatchTest, writes_slots_and_puts_them_back) {
  Code code;
  std::string before(reinterpret_cast<const char*>(code.bytes()), 8192);
  {
    Patcher patcher(GetParam());
    for (size_t i : {0u, 5u, 255u, 256u, 511u}) {
      SlotCode jump = armed_slot(code.slot(i), code.slot(i) + 100);
      EXPECT_TRUE(patcher.replace(code.slot(i), disabled_slot(), jump, kCode));
      EXPECT_TRUE(slot_holds(code.slot(i), jump));
    }
  }
  EXPECT_EQ(permissions(code.slot(0)), "r-xp");
  EXPECT_EQ(permissions(code.slot(300)), "r-xp");
  EXPECT_EQ(code.bytes()[0], 0xe9);
  EXPECT_EQ(code.bytes()[1], 95);
  EXPECT_EQ(code.bytes()[5], 0xc3);  // the neighbour
  {
    Patcher patcher(GetParam());
    for (size_t i : {0u, 5u, 255u, 256u, 511u})
      EXPECT_TRUE(patcher.replace(code.slot(i), armed_slot(code.slot(i), code.slot(i) + 100), disabled_slot(), kCode));
  }
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(code.bytes()), 8192), before);
}

TEST_P(PatchTest, refuses_what_it_does_not_know) {
  Code code;
  Patcher patcher(GetParam());
  SlotCode jump = armed_slot(code.slot(1), code.slot(2));
  EXPECT_FALSE(patcher.replace(code.slot(1) + 5, disabled_slot(), jump, kCode));  // no slot there
  EXPECT_FALSE(patcher.replace(code.slot(1) + 4, disabled_slot(), jump, kCode));  // would straddle two words
  ASSERT_TRUE(patcher.replace(code.slot(1), disabled_slot(), jump, kCode));
  EXPECT_FALSE(patcher.replace(code.slot(1), disabled_slot(), jump, kCode));  // already something else
}

TEST_P(PatchTest, refuses_where_the_system_does) {
  // Shared and read-only: neither way may write there.
  FILE* file = std::tmpfile();
  std::string text(4096, '\xc3');
  std::memcpy(&text[0], "\x0f\x1f\x44\x00\x50", 5);
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
  std::string path = "/proc/self/fd/" + std::to_string(fileno(file));
  FILE* readable = std::fopen(path.c_str(), "r");
  void* at = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fileno(readable), 0);
  ASSERT_NE(at, MAP_FAILED);
  Patcher patcher(GetParam());
  auto slot = reinterpret_cast<uintptr_t>(at);
  EXPECT_FALSE(patcher.replace(slot, disabled_slot(), armed_slot(slot, slot + 64), kCode));
  EXPECT_TRUE(slot_holds(slot, disabled_slot()));
  munmap(at, 4096);
  std::fclose(readable);
  std::fclose(file);
}

INSTANTIATE_TEST_SUITE_P(Both, PatchTest, ::testing::Values(PatchMode::kQuiet, PatchMode::kLive));

TEST(Patch, knows_where_a_slot_fits) {
  for (uintptr_t offset = 0; offset < 16; ++offset) EXPECT_EQ(slot_fits_word(offset), offset % 8 <= 3) << offset;
}

TEST(Patch, threads_run_through_a_slot_while_it_changes) {
  Code code;
  uintptr_t slot = code.slot(3);
  SlotCode jump = armed_slot(slot, code.slot(4));
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> passes{0};
  auto run = [&] {
    while (!stop.load(std::memory_order_relaxed)) {
      for (int i = 0; i < 1000; ++i) reinterpret_cast<void (*)()>(slot)();
      passes.fetch_add(1000, std::memory_order_relaxed);
    }
  };
  std::thread a(run), b(run);
  prepare_patching();
  while (passes.load() < 1000) std::this_thread::yield();
  for (int i = 0; i < 3000; ++i) {
    Patcher patcher(PatchMode::kLive);
    const SlotCode &from = i % 2 == 0 ? disabled_slot() : jump, &to = i % 2 == 0 ? jump : disabled_slot();
    ASSERT_TRUE(patcher.replace(slot, from, to, kCode));
  }
  stop = true;
  a.join();
  b.join();
  EXPECT_TRUE(slot_holds(slot, disabled_slot()));
}

}  // namespace
}  // namespace penna::agent
