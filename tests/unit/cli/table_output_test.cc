// SPDX-License-Identifier: MIT
// Tables as CSV and JSON, and which tables a sort order applies to.
#include "cli/output/table_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"

namespace penna::table_output_test {
namespace {

Report sample() {
  Report report;
  report.head = {"Head."};
  report.warnings = {"Lost."};
  Table table;
  table.key = "alloc";
  table.details_key = "stack";
  table.columns = {{"bytes", "BYTES", CellKind::kBytes},
                   {"share", "SHARE", CellKind::kPercent},
                   {"address", "ADDRESS", CellKind::kAddress, false, true},
                   {"function", "FUNCTION", CellKind::kText, true}};
  table.add({int64_t{1234567}, 1.5, int64_t{0x7f00}, std::string("a,b")}).details = {{"leaf", "(a.c:1)"}, {"main", ""}};
  table.add({std::monostate{}, 0.0, std::monostate{}, std::string("say \"x\"\n")});
  report.tables.push_back(table);
  Table other;
  other.key = "other";
  other.columns = {{"count", "COUNT", CellKind::kCount}};
  other.add({int64_t{1}});
  other.add({int64_t{2}});
  report.tables.push_back(other);
  return report;
}

std::string written(const Report& report, Format format, const RowFields& fields = {}) {
  const std::string path = testing::TempDir() + "penna-table-output";
  auto output = Output::create(path);
  EXPECT_TRUE(output);
  TableOptions options;
  options.format = format;
  EXPECT_TRUE(write_report(report, options, *output, fields));
  EXPECT_TRUE(output->finish());
  const std::string text = *read_file(path);
  ::unlink(path.c_str());
  return text;
}

TEST(WriteReport, CsvIsTheFirstTableRaw) {
  EXPECT_EQ(written(sample(), Format::kCsv),
            "bytes,share,address,function,stack\n"
            "1234567,1.5,0x7f00,\"a,b\",leaf (a.c:1);main\n"
            ",0,,\"say \"\"x\"\"\\x0a\",\n");
}

TEST(WriteReport, JsonIsEverything) {
  EXPECT_EQ(
      written(sample(), Format::kJson),
      "{\"about\":[\"Head.\"],\"alloc\":[\n"
      "{\"bytes\":1234567,\"share\":1.5,\"address\":\"0x7f00\",\"function\":\"a,b\",\"stack\":[\"leaf "
      "(a.c:1)\",\"main\"]},\n"
      "{\"bytes\":null,\"share\":0,\"address\":null,\"function\":\"say \\\"x\\\"\\n\",\"stack\":[]}],\"other\":[\n"
      "{\"count\":1},\n{\"count\":2}],\"notes\":[],\"warnings\":[\"Lost.\"]}\n");
}

TEST(WriteReport, JsonRowsOfOneTableMayBeWrittenByOthers) {
  const auto write = [](const TableRow& row, JsonWriter& json) {
    json.field("twice", 2 * std::get<int64_t>(row.cells[0]));
  };
  const std::string text = written(sample(), Format::kJson, {"other", write});
  EXPECT_THAT(text, testing::HasSubstr("\"other\":[\n{\"twice\":2},\n{\"twice\":4}]"));
  EXPECT_THAT(text, testing::HasSubstr("\"share\":1.5"));
}

TEST(WriteReport, TextHasNoMachineColumns) {
  const std::string text = written(sample(), Format::kTable);
  EXPECT_THAT(text, testing::HasSubstr("BYTES  SHARE  FUNCTION\n"));
  EXPECT_THAT(text, testing::HasSubstr("\nLost.\n"));
  EXPECT_EQ(text.find("0x7f00"), std::string::npos);
}

TEST(SelectReportRows, SortsTheTablesThatHaveTheColumn) {
  Report report = sample();
  TableOptions options;
  options.sort = "count";
  ASSERT_TRUE(select_report_rows(report, options));
  EXPECT_EQ(std::get<int64_t>(report.tables[1].rows[0].cells[0]), 2);
  options.sort = "weight";
  const auto unknown = select_report_rows(report, options);
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().text, testing::HasSubstr("bytes, share, address, function"));
}

}  // namespace
}  // namespace penna::table_output_test
