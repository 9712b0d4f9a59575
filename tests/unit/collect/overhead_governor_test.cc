// SPDX-License-Identifier: MIT
// OverheadGovernor: orders the busiest functions to be silenced, as many as the limit requires, and none twice.
#include "collect/overhead_governor.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <cstring>

#include "../recording/chunk_builder.h"
#include "penna/channel.h"

namespace penna::overhead_governor_test {
namespace {

constexpr uint64_t kUpper = 0x5555;
constexpr double kCallNs = 50;
uint64_t used_ns;  // of the process

uint64_t pc_of(uint32_t number) { return kUpper << 32 | number; }

class OverheadGovernorTest : public testing::Test {
 protected:
  OverheadGovernorTest() {
    used_ns = 5'000'000;
    governor_.set_clock([](pid_t) { return used_ns; });
    Process process;
    process.pid = 77;
    governor_.began(process);
    module(0);
  }
  // Tells where all functions lie.
  void module(uint32_t process) {
    const penna_module module{kUpper << 32, kUpper << 32, (kUpper + 1) << 32, 0, 8, 0, {}};
    governor_.records(process, ChunkBuilder().full(PENNA_KIND_MODULE, 1000, module, "/bin/one").close());
  }
  // Calls of function `number`, after which the process has used `ns` more.
  void calls(uint32_t number, size_t count, uint64_t ns, uint32_t process = 0) {
    used_ns += ns;
    penna_chunk header{};
    header.pc_high = kUpper;
    header.time_begin = 1000;
    header.content_bits = (sizeof header + count * 8) * 8;
    std::vector<uint8_t> chunk(sizeof header + count * 8);
    std::memcpy(chunk.data(), &header, sizeof header);
    for (size_t i = 0; i < count; ++i) {
      const uint64_t word = penna_call_header(PENNA_TAG_ENTRY, number, 1000 + i);
      std::memcpy(chunk.data() + sizeof header + i * 8, &word, sizeof word);
    }
    governor_.records(process, chunk);
  }
  bool readable() const {
    pollfd fd{governor_.fd(), POLLIN, 0};
    return ::poll(&fd, 1, 0) == 1;
  }
  OverheadGovernor governor_ = *OverheadGovernor::make(0.10, kCallNs);
};

TEST_F(OverheadGovernorTest, CallsThatCostLittleAreLeftAlone) {
  // 8,000 calls cost 0.4 ms of 10: 4 %.
  for (int i = 0; i < 10; ++i) calls(1, 8000, 10'000'000);
  EXPECT_FALSE(readable());
  EXPECT_TRUE(governor_.take_orders().empty());
}

TEST_F(OverheadGovernorTest, TheBusiestFunctionIsSilencedOnce) {
  calls(1, 8000, 0);
  calls(1, 8000, 0);
  calls(1, 8000, 0);
  calls(2, 300, 0);
  EXPECT_FALSE(readable()) << "it fired before any time had passed";
  calls(3, 1000, 10'000'000);  // in all 1.265 ms, the others' 65 us are 0.7 % of what is left
  EXPECT_TRUE(readable());
  const auto orders = governor_.take_orders();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders[0].pid, 77U);
  EXPECT_NEAR(orders[0].seconds, 0.015, 1e-9);
  ASSERT_EQ(orders[0].functions.size(), 1U);
  EXPECT_EQ(orders[0].functions[0].pc, pc_of(1));
  EXPECT_EQ(orders[0].functions[0].calls, 24'000U);
  EXPECT_NEAR(orders[0].functions[0].share, 1.2 / 8.735, 1e-6);
  EXPECT_FALSE(readable());
  // Calls that were under way.
  calls(1, 8000, 0);
  calls(1, 8000, 0);
  calls(1, 8000, 10'000'000);
  EXPECT_TRUE(governor_.take_orders().empty());
}

TEST_F(OverheadGovernorTest, AsManyAsTheLimitAsksFor) {
  // Ten functions, each of 0.24 ms beside 7.6 ms of the program's own: two may stay below 70 % of the limit.
  for (uint32_t number = 1; number <= 10; ++number) calls(number, 4800, number == 10 ? 6'400'000 : 400'000);
  const auto orders = governor_.take_orders();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders[0].functions.size(), 8U);
}

// Its record comes from whichever thread met it first: not always from the one whose calls are seen first.
TEST_F(OverheadGovernorTest, FunctionsWhoseModuleIsNotKnownYetWait) {
  Process process;
  process.number = 1;
  process.pid = 78;
  governor_.began(process);
  for (int i = 0; i < 4; ++i) calls(1, 8000, i == 3 ? 10'000'000 : 0, 1);
  EXPECT_FALSE(readable());
  EXPECT_TRUE(governor_.take_orders().empty());
  module(1);
  for (int i = 0; i < 4; ++i) calls(1, 8000, i == 3 ? 10'000'000 : 0, 1);
  const auto orders = governor_.take_orders();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders[0].pid, 78U);
  ASSERT_EQ(orders[0].functions.size(), 1U);
  EXPECT_EQ(orders[0].functions[0].module.path, "/bin/one");
}

TEST_F(OverheadGovernorTest, AnotherProcessIsAnother) {
  Process process;
  process.number = 1;
  process.pid = 78;
  governor_.began(process);
  for (int i = 0; i < 4; ++i) calls(1, 8000, i == 3 ? 10'000'000 : 0);
  const auto orders = governor_.take_orders();
  ASSERT_EQ(orders.size(), 1U);
  EXPECT_EQ(orders[0].pid, 77U);
}

}  // namespace
}  // namespace penna::overhead_governor_test
