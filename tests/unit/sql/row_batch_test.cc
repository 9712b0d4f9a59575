// SPDX-License-Identifier: MIT
// RowBatch: what is set, what is NULL, and what grows.
#include "sql/row_batch.h"

#include <gtest/gtest.h>

namespace penna {
namespace {

TEST(RowBatch, WhatIsNotSetIsNull) {
  const uint32_t wanted[] = {2, 0};
  RowBatch batch(wanted, 3);
  batch.begin_row();
  batch.number(0, 7);
  batch.begin_row();
  batch.text(2, "two");
  EXPECT_EQ(batch.rows(), 2u);
  EXPECT_EQ(batch.valid(0)[0], 0);
  EXPECT_EQ(batch.valid(1)[0], 1);
  EXPECT_EQ(batch.numbers(1)[0], 7);
  EXPECT_EQ(batch.texts(0)[1], "two");
  EXPECT_EQ(batch.valid(1)[1], 0);
}

TEST(RowBatch, ColumnsThatNobodyWantsAreIgnored) {
  const uint32_t wanted[] = {1};
  RowBatch batch(wanted, 3);
  EXPECT_FALSE(batch.wants(0));
  EXPECT_TRUE(batch.wants(1));
  batch.begin_row();
  batch.number(0, 1);
  batch.own_text(2, "x");
  EXPECT_EQ(batch.valid(0)[0], 0);
}

TEST(RowBatch, KeepsWhatItHoldsWhenItGrowsAndForgetsItAfterClear) {
  const uint32_t wanted[] = {0, 1};
  RowBatch batch(wanted, 2);
  constexpr int kRows = 10'000;
  for (int i = 0; i < kRows; ++i) {
    batch.begin_row();
    batch.number(0, i);
    if (i % 2 == 0) batch.own_text(1, std::to_string(i));
  }
  for (int i = 0; i < kRows; ++i) {
    ASSERT_EQ(batch.numbers(0)[i], i);
    ASSERT_EQ(batch.valid(1)[i], i % 2 == 0);
    if (i % 2 == 0) {
      ASSERT_EQ(batch.texts(1)[i], std::to_string(i));
    }
  }
  EXPECT_TRUE(batch.has_own_texts(1));
  batch.clear();
  EXPECT_EQ(batch.rows(), 0u);
  EXPECT_FALSE(batch.has_own_texts(1));
  batch.begin_row();
  EXPECT_EQ(batch.valid(0)[0], 0);
}

}  // namespace
}  // namespace penna
