// SPDX-License-Identifier: MIT
// penna list: programs are found as a shell finds them; strange files are refused in a sentence.
#include "cli/cmd_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/list_program.h"

namespace penna {
namespace {

using ::testing::HasSubstr;

Site site(const std::string& name, uint32_t line) {
  Site result;
  result.provider = "db";
  result.name = name;
  result.file = "db.c";
  result.line = line;
  result.arguments = {{PENNA_ARG_INT, "rows"}, {PENNA_ARG_STRING, ""}, {99, "odd"}};
  return result;
}

TEST(FindProgram, LooksInThePath) {
  EXPECT_THAT(find_program("sh"), testing::EndsWith("/sh"));
  EXPECT_EQ(find_program("no-such-program-here"), "");
}

TEST(PointTable, CopiesOfAPointAreOneRow) {
  PointTable points;
  points.add(site("query", 10));
  points.add(site("query", 10));
  points.add(site("query", 20));
  EXPECT_TRUE(points.has("db:query"));
  EXPECT_FALSE(points.has("db:open"));
  const Table table = points.take();
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(std::get<std::string>(table.rows[0].cells[1]), "rows int, string, odd unknown");
  EXPECT_EQ(std::get<int64_t>(table.rows[0].cells[2]), 2);
  EXPECT_EQ(std::get<std::string>(table.rows[1].cells[4]), "db.c:20");
}

TEST(ProgramReport, TellsWhatCanBeRecorded) {
  const auto report = program_report("/proc/self/exe", {});
  ASSERT_TRUE(report) << report.error().text;
  ASSERT_FALSE(report->tables.empty());
  bool kind = false;
  for (const TableRow& row : report->tables.back().rows)
    kind |=
        std::get<std::string>(row.cells[0]) == "kind" && std::get<std::string>(row.cells[1]).substr(0, 7) == "dynamic";
  EXPECT_TRUE(kind);
}

TEST(ProgramReport, WhatIsNoProgramIsASentence) {
  const auto report = program_report("/etc/passwd", {});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().text, HasSubstr("/etc/passwd"));
}

}  // namespace
}  // namespace penna
