// SPDX-License-Identifier: MIT
// penna list: finds programs as a shell does; rejects unsuitable files in a sentence.
#include "cli/verbs/cmd_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "base/find_program.h"
#include "cli/targets/list_process.h"
#include "cli/targets/point_listing.h"
#include "symbols/elf/process_modules.h"

namespace penna::list_test {
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

TEST(PointList, CopiesOfAPointAreOneRow) {
  PointList list;
  list.add(site("query", 10));
  list.add(site("query", 10));
  list.add(site("query", 20));
  const std::vector<ListedPoint> points = list.take();
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].places.size(), 2u);
  const Table table = points_table(points, false);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(std::get<std::string>(table.rows[0].cells[2]), "rows int, string, odd unknown");
  EXPECT_EQ(std::get<int64_t>(table.rows[0].cells[3]), 2);
  EXPECT_EQ(std::get<std::string>(table.rows[1].cells[5]), "db.c:20");
}

TEST(PointList, ArmedAsFarAsItIsKnown) {
  ListedPoint point;
  point.provider = "a";
  point.name = "b";
  point.places.resize(2);
  const auto armed = [&] { return std::get<std::string>(points_table({point}, true).rows[0].cells[4]); };
  EXPECT_EQ(armed(), "unknown");
  for (PointPlace& place : point.places) place.recording = place.probed = false;
  EXPECT_EQ(armed(), "no");
  point.places[1].probed = true;
  EXPECT_EQ(armed(), "probe (1 of 2)");
  point.places[0].recording = point.places[1].recording = true;
  EXPECT_EQ(armed(), "penna, probe (1 of 2)");
}

TEST(MapsLine, ShowsAFileOrNothing) {
  MappedFile map;
  ASSERT_TRUE(parse_maps_line("7f00-8f00 r-xp 00002000 fe:00 247134         /usr/lib/my lib.so", &map));
  EXPECT_EQ(map.start, 0x7f00u);
  EXPECT_EQ(map.end, 0x8f00u);
  EXPECT_EQ(map.offset, 0x2000u);
  EXPECT_EQ(map.inode, 247134u);
  EXPECT_TRUE(map.executable);
  EXPECT_EQ(map.path, "/usr/lib/my lib.so");
  ASSERT_TRUE(parse_maps_line("1000-2000 r--p 0 00:01 5 /tmp/a\\012b (deleted)", &map));
  EXPECT_EQ(map.path, "/tmp/a\nb");
  EXPECT_FALSE(map.executable);
  for (const char* none :
       {"", "x", "1000-2000", "1000-2000 r-xp", "1000-2000 r-xp 0 00:00 0 ", "2000-1000 r-xp 0 00:01 5 /a",
        "1000-2000 r-xp 0 00:00 0 [vdso]", "1000-2000 r-xp 0 00:01 5 anon_inode:[x]", "1000 r-xp 0 00:01 5 /a",
        "1000-2000 r-xp zz 00:01 5 /a", "1000-2000 r-xp 0 00:01 5"})
    EXPECT_FALSE(parse_maps_line(none, &map)) << none;
}

TEST(ProcessModules, OfThisProcess) {
  const auto process = read_process_modules(static_cast<uint32_t>(::getpid()));
  ASSERT_TRUE(process) << process.error().text;
  bool found = false;
  for (const ProcessModule& module : process->modules) {
    if (module.path.find("cli_test") == std::string::npos) continue;
    // This very function, in the file and in memory.
    const auto here = reinterpret_cast<uint64_t>(&parse_maps_line);
    const auto in_file = module.file.bytes_at(here - module.bias, 16);
    std::array<uint8_t, 16> in_memory{};
    ASSERT_GE(in_file.size(), in_memory.size());
    ASSERT_TRUE(ProcessMemory(static_cast<uint32_t>(::getpid())).read(RemoteBytes(here), in_memory));
    EXPECT_EQ(std::memcmp(in_file.data(), in_memory.data(), in_memory.size()), 0);
    EXPECT_FALSE(ProcessMemory(static_cast<uint32_t>(::getpid())).read(RemoteBytes(), in_memory));
    found = true;
  }
  EXPECT_TRUE(found);
  const auto none = read_process_modules(0x7fffffff);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text, HasSubstr("there is no process"));
}

TEST(ProgramReport, TellsWhatCanBeRecorded) {
  const auto list = program_report("/proc/self/exe", {});
  ASSERT_TRUE(list) << list.error().text;
  ASSERT_FALSE(list->report.tables.empty());
  bool kind = false;
  for (const TableRow& row : list->report.tables.back().rows)
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
}  // namespace penna::list_test
