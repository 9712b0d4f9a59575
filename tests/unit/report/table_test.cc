// SPDX-License-Identifier: MIT
// Sorting and cutting of tables.
#include "report/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penna::table_test {
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

TEST(SelectRows, NumbersFallTextRisesEmptyIsLast) {
  Table table = sample();
  ASSERT_TRUE(select_rows(table, "total_ns", 0));
  EXPECT_THAT(names(table), ElementsAre("c", "b", "d", "a"));
  ASSERT_TRUE(select_rows(table, "total:asc", 0));  // without its unit
  EXPECT_THAT(names(table), ElementsAre("b", "d", "c", "a"));
  ASSERT_TRUE(select_rows(table, "NAME", 0));
  EXPECT_THAT(names(table), ElementsAre("a", "b", "c", "d"));
  ASSERT_TRUE(select_rows(table, "name:desc", 0));
  EXPECT_THAT(names(table), ElementsAre("d", "c", "b", "a"));
  ASSERT_TRUE(select_rows(table, "", 0));
  EXPECT_THAT(names(table), ElementsAre("d", "c", "b", "a"));
}

TEST(SelectRows, TheNextColumnDecidesWhereTheFirstDoesNot) {
  Table table = sample();
  ASSERT_TRUE(select_rows(table, "total,name:desc", 0));
  EXPECT_THAT(names(table), ElementsAre("c", "d", "b", "a"));
  ASSERT_TRUE(select_rows(table, "total:asc,name", 0));
  EXPECT_THAT(names(table), ElementsAre("b", "d", "c", "a"));
  EXPECT_FALSE(select_rows(table, "total,", 0));
  EXPECT_FALSE(select_rows(table, "total,size", 0));
}

TEST(SelectRows, UnknownColumnsAreAnsweredWithTheKnownOnes) {
  Table table = sample();
  const auto column = select_rows(table, "size", 0);
  ASSERT_FALSE(column);
  EXPECT_THAT(column.error().text, HasSubstr("choose one of name, total"));
  const auto direction = select_rows(table, "total:up", 0);
  ASSERT_FALSE(direction);
  EXPECT_THAT(direction.error().text, HasSubstr("total:asc"));
  EXPECT_FALSE(select_rows(table, ":asc", 0));
}

TEST(SelectRows, LeavesOutWhatSaysNothingUnlessAllIsAskedFor) {
  Table table = sample();
  table.rows[1].is_empty = true;
  ASSERT_TRUE(select_rows(table, "", 0));
  EXPECT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.rows_empty, 0u);
  ASSERT_TRUE(select_rows(table, "", 3));
  EXPECT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows_empty, 1u);
  EXPECT_EQ(table.rows_left_out, 0u) << "they do not count as rows";
}

TEST(SelectRows, CountsWhatItLeavesOut) {
  Table table = sample();
  ASSERT_TRUE(select_rows(table, "", 0));
  EXPECT_EQ(table.rows.size(), 4u);
  ASSERT_TRUE(select_rows(table, "", 3));
  EXPECT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows_left_out, 1u);
}

// Names are looked up for what is shown; for all rows only when they decide on the order.
TEST(SelectRows, CompletesOnlyWhatIsShown) {
  Table table = sample();
  int completed = 0;
  table.complete = [&](TableRow& row) {
    ++completed;
    row.cells[0] = std::string(1, static_cast<char>('z' - row.source));
  };
  table.columns[0].late = true;
  for (uint32_t i = 0; i < 4; ++i) table.rows[i].source = i;
  Table by_number = table;
  ASSERT_TRUE(select_rows(by_number, "total", 2));
  EXPECT_EQ(completed, 2);
  EXPECT_THAT(names(by_number), ElementsAre("x", "z"));
  completed = 0;
  ASSERT_TRUE(select_rows(table, "name", 2));
  EXPECT_EQ(completed, 4);
  EXPECT_THAT(names(table), ElementsAre("w", "x"));
}

TEST(SelectRows, SortsByNumbersThatAreFilledLate) {
  Table table = sample();
  table.columns.push_back({"line", "LINE", CellKind::kNumber, false, true});
  table.columns.back().late = true;
  for (uint32_t i = 0; i < 4; ++i) {
    table.rows[i].cells.emplace_back();
    table.rows[i].source = i;
  }
  table.complete = [](TableRow& row) {
    if (row.source != 1) row.cells[2] = int64_t{row.source * 10};
  };
  ASSERT_TRUE(select_rows(table, "line", 0));
  EXPECT_THAT(names(table), ElementsAre("d", "c", "b", "a"));
}

TEST(Number, IsHeldAtTheMaximum) {
  EXPECT_EQ(std::get<int64_t>(number(UINT64_MAX)), INT64_MAX);
  EXPECT_EQ(std::get<int64_t>(number(uint64_t{3})), 3);
}

}  // namespace
}  // namespace penna::table_test
