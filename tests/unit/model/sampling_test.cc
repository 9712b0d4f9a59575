// SPDX-License-Identifier: MIT
// Weights of sampled blocks: on average a sum of them is the sum of all blocks.
#include "model/events/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "model/blocks/allocations.h"
#include "recording_builder.h"

namespace penna::sampling_test {
namespace {

TEST(Sampling, WithoutItEachBlockIsItself) {
  RecordingBuilder build;
  build.thread(build.process(1), 1).alloc(0xa0, 1, 1);
  const SampleScale scale(build.open());
  EXPECT_FALSE(scale.is_sampled());
  EXPECT_EQ(scale.weigh(77).blocks, 1u);
  EXPECT_EQ(scale.weigh(77).bytes, 77u);
}

TEST(Sampling, SmallBlocksAreWeightedLargeOnesAreNot) {
  const SampleScale scale(512 << 10);
  EXPECT_NEAR(static_cast<double>(scale.weigh(16).bytes), 512 << 10, 16);
  EXPECT_NEAR(static_cast<double>(scale.weigh(16).blocks), 32768, 2);
  EXPECT_EQ(scale.weigh(uint64_t{1} << 32).bytes, uint64_t{1} << 32);
  EXPECT_EQ(scale.weigh(uint64_t{1} << 32).blocks, 1u);
  EXPECT_EQ(scale.weigh(0).bytes, 0u);
  EXPECT_NEAR(static_cast<double>(scale.weigh(0).blocks), 512 << 10, 1);
}

// Blocks drawn as the agent draws them: by the distance to the next point of a Poisson process.
TEST(Sampling, SumsAreUnbiased) {
  constexpr uint64_t kMean = 4096;
  const SampleScale scale(kMean);
  std::mt19937_64 random(7);
  std::exponential_distribution<double> distance(1.0 / kMean);
  for (const uint64_t size : {uint64_t{24}, uint64_t{500}, uint64_t{4096}, uint64_t{9000}}) {
    constexpr uint64_t kBlocks = 2'000'000;
    double left = distance(random);
    uint64_t bytes = 0, samples = 0;
    for (uint64_t i = 0; i < kBlocks; ++i) {
      left -= static_cast<double>(size);
      if (left >= 0) continue;
      bytes += scale.weigh(size).bytes;
      ++samples;
      left = distance(random);
    }
    const double ratio = static_cast<double>(bytes) / static_cast<double>(kBlocks * size);
    EXPECT_NEAR(ratio, 1, 5 * sampling_error(samples)) << size;
    EXPECT_NEAR(ratio, 1, 0.06) << size;
  }
}

// What a thread allocates next is mostly not in a sample: nobody knows which blocks were temporary.
TEST(Sampling, NothingIsKnownToBeTemporary) {
  RecordingBuilder build;
  build.options({"sample-bytes=4096"});
  ThreadBuilder& thread = build.thread(build.process(1), 1);
  thread.alloc(0xa0, 64, 1);
  thread.free(0xa0, 2);
  const Recording recording = build.open();
  Allocations heap(recording);
  for_each_event(recording, {.classes = kAllocEvents}, heap);
  EXPECT_FALSE(heap.knows_temporary());
  EXPECT_EQ(heap.total().temporary, 0u);
}

TEST(Sampling, BlocksCountAsThemselvesWhereThatIsAskedFor) {
  RecordingBuilder build;
  build.options({"sample-bytes=4096"});
  build.thread(build.process(1), 1).alloc(0xa0, 64, 1);
  const Recording recording = build.open();
  AllocationOptions as_recorded;
  as_recorded.as_recorded = true;
  Allocations estimates(recording), recorded(recording, as_recorded);
  for_each_event(recording, {.classes = kAllocEvents}, [&](const Event& event) {
    estimates(event);
    recorded(event);
  });
  EXPECT_EQ(estimates.total().allocations, 65u);
  EXPECT_TRUE(estimates.is_estimated());
  EXPECT_EQ(recorded.total().allocations, 1u);
  EXPECT_EQ(recorded.total().live_bytes, 64u);
  EXPECT_TRUE(recorded.is_sampled());
  EXPECT_FALSE(recorded.is_estimated());
}

}  // namespace
}  // namespace penna::sampling_test
