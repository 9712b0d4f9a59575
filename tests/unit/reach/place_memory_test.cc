// SPDX-License-Identifier: MIT
// On memory of this process: what is read is what was there at first and what was written here; itself(): now.
#include "reach/process/place_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>

namespace penna {
namespace {

constexpr size_t kPage = 4096, kPages = 200;  // more than are kept

class PlaceMemoryTest : public ::testing::Test {
 protected:
  PlaceMemoryTest()
      : bytes_(static_cast<uint8_t*>(
            ::mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    for (size_t i = 0; i < kPages * kPage; ++i) bytes_[i] = static_cast<uint8_t>(i / kPage + i);
  }
  ~PlaceMemoryTest() override { ::munmap(bytes_, kPages * kPage); }
  RemoteBytes at(size_t offset) const { return RemoteBytes(reinterpret_cast<uintptr_t>(bytes_) + offset); }
  uint8_t read(size_t offset) {
    uint8_t byte = 0;
    EXPECT_TRUE(places_.read(at(offset), {&byte, 1}));
    return byte;
  }

  uint8_t* const bytes_;
  const Result<RemoteMemory> memory_ = RemoteMemory::open(::getpid());
  PlaceMemory places_{*memory_};
};

TEST_F(PlaceMemoryTest, PagesTakeTurns) {
  for (int round = 0; round < 2; ++round)
    for (size_t page = 0; page < kPages; ++page) {
      const size_t offset = page * kPage + page;
      EXPECT_EQ(read(offset), bytes_[offset]);
    }
}

TEST_F(PlaceMemoryTest, WritesAreReadAndSeen) {
  const uint8_t before = read(17);
  const uint8_t written[] = {0x34, 0x12};
  ASSERT_TRUE(places_.write(at(18), written));
  bytes_[17] = static_cast<uint8_t>(before + 1);  // by somebody else
  EXPECT_EQ(read(17), before);
  EXPECT_EQ(read(18), 0x34);
  EXPECT_EQ(places_.itself().get(at(17)), before + 1);
  EXPECT_EQ(bytes_[19], 0x12);
}

TEST_F(PlaceMemoryTest, PlacesMayLieInTwoPages) {
  (void)read(kPage - 1), (void)read(kPage);
  const std::array<uint8_t, 4> written{0x01, 0xef, 0xcd, 0xab};
  std::array<uint8_t, 4> there{};
  ASSERT_TRUE(places_.write(at(kPage - 2), written));
  ASSERT_TRUE(places_.read(at(kPage - 2), there));
  EXPECT_EQ(there, written);
  EXPECT_EQ(read(kPage - 1), 0xef);
  EXPECT_EQ(read(kPage), 0xcd);
}

TEST_F(PlaceMemoryTest, NothingIsReadWhereNothingIs) {
  ASSERT_EQ(::mprotect(bytes_, kPage, PROT_NONE), 0);
  EXPECT_EQ(read(3), 3) << "as a debugger reads it";
  ASSERT_EQ(::munmap(bytes_ + kPage, kPage), 0);
  uint8_t byte = 0;
  EXPECT_FALSE(places_.read(at(kPage + 5), {&byte, 1}));
  EXPECT_FALSE(places_.write(at(kPage + 5), {&byte, 1}));
}

}  // namespace
}  // namespace penna
