// SPDX-License-Identifier: MIT
// How a report looks: alignment, units, cutting, colour.
#include "report/print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/text.h"

namespace penna::print_test {
namespace {

Table sample() {
  Table table;
  table.key = "alloc";
  table.title = "Allocations";
  table.details_key = "stack";
  table.columns = {{"bytes", "BYTES", CellKind::kBytes, false},
                   {"count", "COUNT", CellKind::kCount, false},
                   {"share", "SHARE", CellKind::kPercent, false},
                   {"function", "FUNCTION", CellKind::kText, true}};
  table.add({int64_t{1234567}, int64_t{1000}, 98.0, std::string("grow")}).details = {{"grow", "(a.c:3) [app]"},
                                                                                     {"main", ""}};
  table.add({int64_t{12}, std::monostate{}, 2.0, std::string("std::vector<std::pair<int, long>>::push_back(int)")});
  return table;
}

std::string text_of(const Report& report, const TextStyle& style = {}) {
  std::string text;
  EXPECT_TRUE(print_report(report, style, [&](std::string_view piece) {
    text += piece;
    return true;
  }));
  return text;
}

TEST(Print, AlignsNumbersRightAndTextLeft) {
  EXPECT_EQ(text_of({{"Head."}, {sample()}, {"Tail."}, {"Something was lost."}}),
            "Head.\n"
            "\n"
            "Allocations\n"
            "  BYTES  COUNT   SHARE  FUNCTION\n"
            "1.23 MB  1,000  98.0 %  grow\n"
            "      grow (a.c:3) [app]\n"
            "      main\n"
            "   12 B      -   2.0 %  std::vector<std::pair<int, long>>::push_back(int)\n"
            "\n"
            "Tail.\n"
            "\n"
            "Something was lost.\n");
}

TEST(Print, FitsATerminalByCuttingNames) {
  const std::string text = text_of({{}, {sample()}, {}, {}}, {false, 45});
  EXPECT_THAT(text, testing::HasSubstr("   12 B      -   2.0 %  std::vect...back(int)\n"));
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    EXPECT_LE(display_width(text.substr(at, text.find('\n', at) - at)), 45u);
}

TEST(Print, WhereAFrameIsGivesWayToItsName) {
  Table table;
  table.details_in_row = true;
  table.columns = {{"function", "FUNCTION", CellKind::kText, true}};
  table.add({std::string()}).details = {{"first", ""}, {"second_function", "(file.c:12) [program]"}};
  const auto line = [&](size_t width) {
    const std::string text = text_of({{}, {table}, {}, {}}, {false, width});
    return text.substr(text.rfind("      "));
  };
  EXPECT_EQ(line(60), "      second_function (file.c:12) [program]\n");
  EXPECT_EQ(line(35), "      second_function (file.c:12)\n");
  EXPECT_EQ(line(22), "      second_function\n");
}

TEST(Print, NarrowTerminalsKeepSomethingOfEveryName) {
  EXPECT_THAT(text_of({{}, {sample()}, {}, {}}, {false, 3}), testing::HasSubstr("std::ve...k(int)"));
}

TEST(Print, StacksCanBeginInTheirRow) {
  Table table = sample();
  table.title.clear();
  table.details_in_row = true;
  table.columns[1].machine_only = true;
  table.rows[0].details.push_back({"_start", "[app]"});
  EXPECT_EQ(text_of({{}, {table}, {}, {}}),
            "  BYTES   SHARE  FUNCTION\n"
            "1.23 MB  98.0 %  grow (a.c:3) [app]\n"
            "      main\n"
            "      _start [app]\n"
            "   12 B   2.0 %  std::vector<std::pair<int, long>>::push_back(int)\n");
  table.most_details = 1;
  EXPECT_THAT(text_of({{}, {table}, {}, {}}), testing::HasSubstr("grow (a.c:3) [app]\n      ... 2 more\n"));
  table.most_details = 2;  // a line that says "1 more" would take the place of the one
  EXPECT_THAT(text_of({{}, {table}, {}, {}}), testing::HasSubstr("      main\n      _start [app]\n"));
}

TEST(Print, TitleNamesTheDefaultOrderOnly) {
  Table table = sample();
  table.title = "Calls";
  table.order = "sorted by SHARE";
  EXPECT_EQ(text_of({{}, {table}, {}, {}}).substr(0, 23), "Calls, sorted by SHARE\n");
  table.title.clear();
  EXPECT_EQ(text_of({{}, {table}, {}, {}}).substr(0, 16), "sorted by SHARE\n");
  ASSERT_TRUE(select_rows(table, "", 0));
  EXPECT_EQ(table.order, "sorted by SHARE");
  ASSERT_TRUE(select_rows(table, "bytes", 0));
  EXPECT_EQ(table.order, "");
}

TEST(Print, SaysWhatIsLeftOut) {
  Table table = sample();
  ASSERT_TRUE(select_rows(table, "", 1));
  EXPECT_THAT(text_of({{}, {table}, {}, {}}), testing::HasSubstr("\n1 more (-n 0 shows all)\n"));
}

TEST(Print, SaysHowManyRowsSayNothing) {
  Table table = sample();
  table.empty_are = "are 0";
  for (TableRow& row : table.rows) row.is_empty = true;
  const std::string all = std::to_string(table.rows.size());
  ASSERT_TRUE(select_rows(table, "", 25));
  EXPECT_EQ(text_of({{}, {table}, {}, {}}), table.title + "\n" + all + " are 0 (-n 0 shows all)\n");
}

TEST(Print, ColoursOnlyWhenAsked) {
  const Report report{{}, {sample()}, {}, {"Lost."}};
  EXPECT_EQ(text_of(report).find('\x1b'), std::string::npos);
  EXPECT_THAT(text_of(report, {true, 0}), testing::HasSubstr("\x1b[33mLost.\x1b[0m\n"));
}

TEST(Print, NamesCannotSendEscapeSequences) {
  Table table = sample();
  table.rows[0].cells[3] = std::string("\x1b[2J");
  table.rows[0].details[0] = {"\x1b]0;owned\x07", "\n"};
  EXPECT_EQ(text_of({{"\x1b[1m"}, {table}, {}, {}}).find('\x1b'), std::string::npos);
}

TEST(Print, StopsWhenNobodyReads) {
  int pieces = 0;
  EXPECT_FALSE(print_report({{"a", "b"}, {sample()}, {}, {}}, {}, [&](std::string_view) { return ++pieces < 2; }));
  EXPECT_EQ(pieces, 2);
}

}  // namespace
}  // namespace penna::print_test
