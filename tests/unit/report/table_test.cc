// SPDX-License-Identifier: MIT
// Sorting and cutting of tables.
#include "report/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penna {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Table sample() {
  Table table;
  table.columns = {{"name", "NAME", CellKind::kText, true}, {"total_ns", "TOTAL", CellKind::kDuration, false}};
  table.add({std::string("b"), int64_t{5}});
  table.add({std::string("a"), std::monostate{}});
  table.add({std::string("c"), int64_t{7}});
  table.add({std::string("d"), int64_t{5}});
  return table;
}

std::vector<std::string> names(const Table& table) {
  std::vector<std::string> result;
  for (const TableRow& row : table.rows) result.push_back(std::get<std::string>(row.cells[0]));
  return result;
}

TEST(SortTable, NumbersFallTextRisesEmptyIsLast) {
  Table table = sample();
  ASSERT_TRUE(sort_table(table, "total_ns"));
  EXPECT_THAT(names(table), ElementsAre("c", "b", "d", "a"));
  ASSERT_TRUE(sort_table(table, "total:asc"));  // without its unit
  EXPECT_THAT(names(table), ElementsAre("b", "d", "c", "a"));
  ASSERT_TRUE(sort_table(table, "NAME"));
  EXPECT_THAT(names(table), ElementsAre("a", "b", "c", "d"));
  ASSERT_TRUE(sort_table(table, "name:desc"));
  EXPECT_THAT(names(table), ElementsAre("d", "c", "b", "a"));
}

TEST(SortTable, UnknownColumnsAreAnsweredWithTheKnownOnes) {
  Table table = sample();
  const auto column = sort_table(table, "size");
  ASSERT_FALSE(column);
  EXPECT_THAT(column.error().text, HasSubstr("choose one of name, total."));
  const auto direction = sort_table(table, "total:up");
  ASSERT_FALSE(direction);
  EXPECT_THAT(direction.error().text, HasSubstr("total:asc"));
  EXPECT_FALSE(sort_table(table, ""));
}

TEST(KeepTop, CountsWhatItLeavesOut) {
  Table table = sample();
  keep_top(table, 0);
  EXPECT_EQ(table.rows.size(), 4u);
  keep_top(table, 3);
  EXPECT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows_left_out, 1u);
}

TEST(Number, IsHeldAtTheMaximum) {
  EXPECT_EQ(std::get<int64_t>(number(UINT64_MAX)), INT64_MAX);
  EXPECT_EQ(std::get<int64_t>(number(uint64_t{3})), 3);
}

}  // namespace
}  // namespace penna
