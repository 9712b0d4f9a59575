// SPDX-License-Identifier: MIT
// How a verb gives out its tables, in three formats.
//
// Why here: report knows text, export knows CSV and JSON, and neither may know the other.
// Invariant: CSV and JSON hold raw numbers (nanoseconds, bytes) under the same keys that --sort takes.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/options/table_options.h"
#include "cli/output.h"
#include "export/csv_writer.h"
#include "export/json_writer.h"
#include "report/table.h"

namespace penna {

// Sorts and cuts every table of the report, and chooses its columns. Tables that lack the column to sort by keep their
// order, as long as one has it.
Result<> select_report_rows(Report& report, const TableOptions& options);

// How the rows of one table look in JSON when they hold more than cells can: writes fields into the row's open object.
struct RowFields {
  std::string table;  // its key; empty: none
  std::function<void(const TableRow&, JsonWriter&)> write;
};

// Of text that goes there.
TextStyle style_of(const TableOptions& options, const Output& output);

// Text: the whole report. CSV: its first table. JSON: an object with an array of each table and the sentences.
// False: the reader left or the output failed; finish_output() tells which.
bool write_report(const Report& report, const TableOptions& options, Output& output, const RowFields& fields = {});

// The same in CSV or JSON for a table that is too long to be kept: each row goes out as it comes, in JSON the sentences
// after them.
class ReportStream {
 public:
  // `table` has no rows; `output` must outlive this.
  ReportStream(Format format, Output& output, Table table);
  const Table& table() const { return table_; }
  // False when the output did.
  bool add(std::vector<Cell> cells);
  bool finish(const Report& closing);  // of which the tables do not count

 private:
  Table table_;
  TableRow row_;
  CsvWriter csv_;
  JsonWriter json_;
  bool is_json_;
};

}  // namespace penna
