// SPDX-License-Identifier: MIT
// Stack nodes as columns: any payload comes back bit by bit, and no bytes make the decoder misbehave.
#include "recording/columns/stack_columns.h"

#include <gtest/gtest.h>

#include <cstring>

#include "random_stacks.h"
#include "recording/columns/codec.h"

namespace penna::stack_columns_test {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes payload_of(uint64_t first, const std::vector<penna_stack_node>& nodes) {
  Bytes payload(sizeof first + nodes.size() * sizeof nodes[0]);
  std::memcpy(payload.data(), &first, sizeof first);
  if (!nodes.empty()) std::memcpy(payload.data() + sizeof first, nodes.data(), nodes.size() * sizeof nodes[0]);
  return payload;
}

void expect_round_trip(const Bytes& payload) {
  StackColumnEncoder encoder;
  Bytes columns, back;
  ASSERT_TRUE(encoder.encode(payload, columns));
  ASSERT_LE(columns.size(), max_stack_column_bytes(payload.size()));
  ASSERT_TRUE(from_stack_columns(columns, payload.size(), back));
  ASSERT_EQ(payload, back);
}

TEST(StackColumns, RoundTripOfTrees) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    const auto first = static_cast<uint32_t>(1 + random() % 3 * 1000);
    ASSERT_NO_FATAL_FAILURE(expect_round_trip(payload_of(first, random_stacks(random, random() % 500, first))))
        << round;
  }
}

TEST(StackColumns, RoundTripOfAnythingElse) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 400; ++round) {
    Bytes payload(sizeof(uint64_t) + random() % 200 * sizeof(penna_stack_node));
    for (auto& byte : payload) byte = static_cast<uint8_t>(round % 3 == 0 ? random() : random() % 3 == 0 ? 255 : 0);
    ASSERT_NO_FATAL_FAILURE(expect_round_trip(payload)) << round;
  }
}

TEST(StackColumns, RefusesWhatAreNoNodes) {
  StackColumnEncoder encoder;
  Bytes columns, back;
  for (size_t size : {0, 7, 9, 23, 25}) {
    EXPECT_FALSE(encoder.encode(Bytes(size), columns)) << size;
    EXPECT_FALSE(from_stack_columns(Bytes(64), size, back)) << size;
  }
}

TEST(StackColumns, DecoderTakesAnyBytes) {
  std::mt19937_64 random(3);
  StackColumnEncoder encoder;
  Bytes columns, back;
  size_t decoded = 0;
  for (int round = 0; round < 3000; ++round) {
    const Bytes payload = payload_of(1, random_stacks(random, 1 + random() % 60, 1));
    ASSERT_TRUE(encoder.encode(payload, columns));
    for (uint64_t count = 1 + random() % 4; count > 0; --count) {
      const uint64_t at = random() % columns.size();
      columns[at] = static_cast<uint8_t>(random() >> (random() % 8));
    }
    if (random() % 4 == 0) columns.resize(random() % columns.size());
    const size_t more = random() % 2 * sizeof(penna_stack_node);
    decoded += from_stack_columns(columns, payload.size() - more, back);
  }
  EXPECT_GT(decoded, 20u) << "too few mutations decode";
}

TEST(StackColumns, AreUsedAndSmaller) {
  std::mt19937_64 random(4);
  const Bytes raw = payload_of(1, random_stacks(random, 2000, 1));
  Bytes plain, columns, back;
  EXPECT_EQ(Compressor(1, false).compress(layout::BlockType::kStacks, raw, plain), layout::Codec::kZstd);
  EXPECT_EQ(Compressor(1, true).compress(layout::BlockType::kStacks, raw, columns), layout::Codec::kStackColumns);
  EXPECT_LT(columns.size() * 2, plain.size());
  ASSERT_TRUE(decompress(layout::Codec::kStackColumns, columns, raw.size(), back));
  EXPECT_EQ(raw, back);
  EXPECT_FALSE(decompress(layout::Codec::kStackColumns, columns, raw.size() + sizeof(penna_stack_node), back));
  EXPECT_FALSE(decompress(layout::Codec::kColumns, columns, raw.size(), back));
}

}  // namespace
}  // namespace penna::stack_columns_test
