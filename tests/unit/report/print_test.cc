// SPDX-License-Identifier: MIT
// The look of a report: alignment, units, cutting, color.
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

void expect_within(const std::string& text, size_t width) {
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    EXPECT_LE(display_width(text.substr(at, text.find('\n', at) - at)), width) << text.substr(at);
}

TEST(Print, FitsATerminalByCuttingNames) {
  const std::string text = text_of({{}, {sample()}, {}, {}}, {false, 60});
  EXPECT_THAT(text, testing::HasSubstr("   12 B      -   2.0 %  std::vector<std::...::push_back(int)\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("no room")));
  expect_within(text, 60);
}

TEST(Print, ColumnsGoBeforeANameIsShorterThanThirtyColumns) {
  const std::string text = text_of({{}, {sample()}, {}, {}}, {false, 45});
  EXPECT_EQ(text,
            "Allocations\n"
            "  BYTES  FUNCTION\n"
            "1.23 MB  grow\n"
            "      grow (a.c:3) [app]\n"
            "      main\n"
            "   12 B  std::vector<std::...::push_back(int)\n"
            "no room for COUNT, SHARE: --wide shows all,\n"
            "--fields chooses\n");
}

TEST(Print, EveryWidthFromThatOfANameOnIsKept) {
  for (size_t width = 36; width < 100; ++width) expect_within(text_of({{}, {sample()}, {}, {}}, {false, width}), width);
}

TEST(Print, ChosenColumnsHaveRoom) {
  Table table = sample();
  choose_columns(table, {"share", "count", "bytes", "function"});
  const std::string text = text_of({{}, {table}, {}, {}}, {false, 45});
  EXPECT_THAT(text, testing::HasSubstr(" SHARE  COUNT    BYTES  FUNCTION\n"));
  EXPECT_THAT(text, testing::HasSubstr("   12 B  std::vector<st...ush_back(int)\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("no room")));
}

TEST(Print, SentencesOfALastColumnGoOnBelow) {
  Table table;
  table.columns = {{"check", "CHECK", CellKind::kText}, prose({"what", "WHAT", CellKind::kText})};
  table.add({std::string("perf"), std::string("the kernel lets nobody but root count events")});
  EXPECT_EQ(text_of({{}, {table}, {}, {}}, {false, 40}),
            "CHECK  WHAT\n"
            "perf   the kernel lets nobody but root\n"
            "       count events\n");
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
  table.rows[0].details[1].text = "second_function_of_the_program";
  EXPECT_EQ(line(60), "      second_function_of_the_program (file.c:12) [program]\n");
  EXPECT_EQ(line(50), "      second_function_of_the_program (file.c:12)\n");
  EXPECT_EQ(line(36), "      second_function_of_the_program\n");
}

TEST(Print, ALineThatIsNarrowerThanANameIsForTheNameAlone) {
  EXPECT_THAT(text_of({{}, {sample()}, {}, {}}, {false, 24}), testing::HasSubstr("\nstd::vector..._back(int)\n"));
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
