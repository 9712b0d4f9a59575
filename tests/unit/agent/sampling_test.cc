// SPDX-License-Identifier: MIT
// The set of sampled blocks and the filters before it: a free is recorded exactly if its allocation was, and any other
// free costs one filter look-up.
#include "agent/core/sampling.h"

#include <gtest/gtest.h>

#include <vector>

namespace {
int lost;  // events that lose_for() was told of
}  // namespace

// What lifecycle.cc and chunks.cc define in the agent.
namespace penna::agent {
Process process;
__thread Thread thread __attribute__((tls_model("initial-exec"))) = {};
uint32_t after_fork_or_start() { return 0; }
void lose_for(penna_loss, penna_event_class, uint32_t events) { lost += static_cast<int>(events); }
}  // namespace penna::agent

namespace penna::agent::sampling_test {
namespace {

constexpr uintptr_t kHeap = 0x7f0000000000;
const void* block(uintptr_t number) { return reinterpret_cast<const void*>(kHeap + number * 16); }

// The first `count` blocks whose hashes begin with the same `bits` bits as that of block(0).
std::vector<const void*> neighbours(size_t count, int bits) {
  std::vector<const void*> found;
  for (uintptr_t i = 0; found.size() < count; ++i)
    if (sample_hash(block(i)) >> (64 - bits) == sample_hash(block(0)) >> (64 - bits)) found.push_back(block(i));
  return found;
}

struct Sampling : testing::Test {
  void SetUp() override {
    process.sample_bytes = 1024;
    thread = {};
    lost = 0;
  }
};

TEST_F(Sampling, AFreeIsRecordedOnceForEachRecordedBlock) {
  ASSERT_TRUE(add_sample(block(1)));
  EXPECT_FALSE(forget_sample(block(2)));
  EXPECT_TRUE(forget_sample(block(1)));
  EXPECT_FALSE(forget_sample(block(1)));
}

// Without the count down in take_sample(), every filter byte would fill up for good and each free would search the set.
TEST_F(Sampling, FiltersAreEmptyAgainAfterTheLastFree) {
  for (int round = 0; round < 1000; ++round) {
    ASSERT_TRUE(add_sample(block(3)));
    ASSERT_FALSE(near_sample_filter.has_none(sample_hash(block(3))));
    ASSERT_FALSE(far_sample_filter.has_none(sample_hash(block(3))));
    ASSERT_TRUE(forget_sample(block(3)));
    ASSERT_TRUE(near_sample_filter.has_none(sample_hash(block(3)))) << round;
    ASSERT_TRUE(far_sample_filter.has_none(sample_hash(block(3)))) << round;
  }
}

TEST_F(Sampling, BlocksThatShareAFilterByteAreCountedInIt) {
  const std::vector<const void*> both = neighbours(2, 16);
  ASSERT_TRUE(add_sample(both[0]));
  ASSERT_TRUE(add_sample(both[1]));
  EXPECT_TRUE(forget_sample(both[0]));
  EXPECT_FALSE(is_unsampled(both[1]));
  EXPECT_TRUE(forget_sample(both[1]));
  EXPECT_TRUE(is_unsampled(both[1]));
}

TEST_F(Sampling, ABlockWithoutRoomIsCountedAsLost) {
  const std::vector<const void*> blocks = neighbours(65, 15);  // one bucket's, and the 64 slots that they may use
  for (size_t i = 0; i < 64; ++i) EXPECT_TRUE(add_sample(blocks[i])) << i;
  EXPECT_EQ(lost, 0);
  EXPECT_FALSE(add_sample(blocks[64]));
  EXPECT_EQ(lost, 1);
  for (size_t i = 0; i < 64; ++i) EXPECT_TRUE(forget_sample(blocks[i])) << i;
  EXPECT_FALSE(forget_sample(blocks[64]));
}

TEST_F(Sampling, AFailedFreeKeepsTheBlock) {
  ASSERT_TRUE(add_sample(block(4)));
  ASSERT_TRUE(forget_sample(block(4)));
  keep_sample(block(4));
  EXPECT_TRUE(forget_sample(block(4)));
}

TEST_F(Sampling, WithoutSamplingEveryFreeIsRecorded) {
  process.sample_bytes = 0;
  EXPECT_TRUE(sample_block(block(5), 16));
  EXPECT_TRUE(forget_sample(block(6)));
}

// The distance to the next sample has mean sample_bytes: of 2^20 blocks of 16 bytes, 16 in 1,024 are drawn, give or take
// five standard deviations (640).
TEST_F(Sampling, OneInSampleBytesIsDrawn) {
  int drawn = 0;
  for (int i = 0; i < 1 << 20; ++i) drawn += !passes_unsampled(16) && draw_next_sample(16);
  EXPECT_NEAR(drawn, 16384, 640);
}

// Otherwise no empty block would ever be recorded.
TEST_F(Sampling, AnEmptyBlockCountsAsOneByte) {
  thread.until_sample = 2;
  EXPECT_TRUE(passes_unsampled(0));
  EXPECT_TRUE(passes_unsampled(0));
  EXPECT_FALSE(passes_unsampled(0));
}

}  // namespace
}  // namespace penna::agent::sampling_test
