// SPDX-License-Identifier: MIT
// How a verb prints its tables, in three formats.
//
// Why here: report knows text, export knows CSV and JSON, and neither may know the other.
// Invariant: CSV and JSON have raw numbers (nanoseconds, bytes) under the same keys that --sort accepts.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/output/output.h"
#include "export/text/csv_writer.h"
#include "export/text/json_writer.h"
#include "options/table_options.h"
#include "report/table.h"

namespace penna {

// Sorts and cuts every table of the report, and selects its columns. Tables that lack the sort column keep their order,
// as long as one has it.
Result<> select_report_rows(Report& report, const TableOptions& options);

// JSON rows of a table that need more than cells: writes fields into the row's open object.
struct RowFields {
  std::string table;  // its key; empty: none
  std::function<void(const TableRow&, JsonWriter&)> write;
};

// For text written there.
TextStyle style_of(const TableOptions& options, const Output& output);

// Text: the whole report. CSV: its first table. JSON: an object with an array for each table, and the sentences. False:
// the reader left or the output failed; finish_output() says which.
bool write_report(const Report& report, const TableOptions& options, Output& output, const RowFields& fields = {});

// The same in CSV or JSON for a table that is too long to keep: each row is written as it comes, in JSON the sentences
// after them.
class ReportStream {
 public:
  // `table` has no rows; `output` must outlive this.
  ReportStream(Format format, Output& output, Table table);
  const Table& table() const { return table_; }
  // False if the output failed.
  bool add(std::vector<Cell> cells);
  bool finish(const Report& closing);  // its tables are ignored

 private:
  Table table_;
  TableRow row_;
  CsvWriter csv_;
  JsonWriter json_;
  bool is_json_;
};

}  // namespace penna
