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

TEST(SelectRows, ColumnsMayBeNamedByExpressions) {
  Table table;
  table.columns = {{"time_ns", "TIME", CellKind::kDuration},
                   {"n", "n", CellKind::kNumber},
                   {"N", "N", CellKind::kNumber},
                   {"ns::max(a, b)", "ns::max(a, b)", CellKind::kNumber},
                   {"time", "time", CellKind::kNumber}};
  for (const int64_t i : {2, 1, 3}) table.add({i, -i, i, i, -i});
  const auto first = [&](const char* order) {
    EXPECT_TRUE(select_rows(table, order, 0)) << order;
    return std::get<int64_t>(table.rows[0].cells[0]);
  };
  EXPECT_EQ(first("ns::max(a, b):desc"), 3);
  EXPECT_EQ(first("ns::max(a, b):asc"), 1);
  EXPECT_EQ(first("N:desc"), 3) << "n is another one";
  EXPECT_EQ(first("time:desc"), 1) << "so is time_ns";
}

TEST(SelectRows, UnknownColumnsAreAnsweredWithTheKnownOnes) {
  Table table = sample();
  const auto column = select_rows(table, "size", 0);
  ASSERT_FALSE(column);
  EXPECT_THAT(column.error().text, HasSubstr("choose from name, total"));
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

TEST(ChooseColumns, KeepsThemInTheOrderOfTheirNames) {
  Table table = sample();
  choose_columns(table, {"TOTAL", "name"});
  ASSERT_EQ(table.columns.size(), 2u);
  EXPECT_EQ(table.columns[0].key, "total_ns");
  EXPECT_EQ(std::get<int64_t>(table.rows[0].cells[0]), 5);
  EXPECT_EQ(std::get<std::string>(table.rows[0].cells[1]), "b");
  EXPECT_TRUE(table.has_chosen_columns);
}

TEST(ChooseColumns, ColumnsOfProgramsCanBeChosenForText) {
  Table table = sample();
  table.columns[1].machine_only = true;
  choose_columns(table, {"total"});
  EXPECT_FALSE(table.columns[0].machine_only);
}

TEST(ChooseColumns, ATableWithNoneOfThemStaysAsItIs) {
  Table table = sample();
  choose_columns(table, {"size"});
  EXPECT_EQ(table.columns.size(), 2u);
  EXPECT_FALSE(table.has_chosen_columns);
}

TEST(ChooseColumns, ListsBelowRowsAreColumnsToo) {
  Table with_stack = sample();
  with_stack.details_key = "stack";
  with_stack.rows[0].details = {{"work", ""}, {"main", ""}};
  Table without = with_stack;
  choose_columns(with_stack, {"name", "stack"});
  EXPECT_EQ(with_stack.rows[0].details.size(), 2u);
  EXPECT_EQ(with_stack.details_key, "stack");
  choose_columns(without, {"name"});
  EXPECT_TRUE(without.rows[0].details.empty());
  EXPECT_EQ(without.details_key, "");
}

// The first frame of a stack is what stands in the last column: without that, it goes as well.
TEST(ChooseColumns, AFirstDetailGoesWithItsColumn) {
  Table table = sample();
  table.details_in_row = true;
  table.rows[0].details = {{"work", ""}, {"main", ""}};
  Table other = table;
  choose_columns(table, {"name", "total"});
  EXPECT_TRUE(table.details_in_row);
  EXPECT_EQ(table.rows[0].details.size(), 1u);
  choose_columns(other, {"name"});
  EXPECT_FALSE(other.details_in_row);
  EXPECT_TRUE(other.rows[0].details.empty());
}

TEST(ChooseColumns, ANameThatNoTableHasIsAnsweredWithTheNearestAndAll) {
  Table table = sample();
  table.details_key = "stack";
  EXPECT_TRUE(check_columns({table}, {"name", "total_ns", "Total", "stack"}));
  EXPECT_TRUE(check_columns({Table(), table}, {"name"}));
  const Result<> checked = check_columns({table}, {"name", "totl"});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().text, "there is no field 'totl' (did you mean 'total'?): choose from name, total, stack");
}

}  // namespace
}  // namespace penna::table_test
