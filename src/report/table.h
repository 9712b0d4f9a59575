// SPDX-License-Identifier: MIT
// Table: what a report says, as typed values; how it looks is decided later (print.h, cli/machine_format.h).
//
// Why: a number that is kept as a number can be sorted, summed, printed as "1.2 MB" and written raw to CSV.
// Invariant: every row has as many cells as the table has columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace penna {

enum class CellKind : uint8_t {
  kCount,
  kBytes,
  kDuration,  // nanoseconds
  kPercent,
  kAddress,
  kText,
};

struct TableColumn {
  std::string key;    // in CSV, JSON and --sort: "total_ns"
  std::string title;  // over the column of text: "TOTAL"
  CellKind kind = CellKind::kText;
  bool cut = false;  // of a text column: on a terminal its cells may be cut to fit
};

// Empty (nothing is known: "-", "", null), a whole number (count, bytes, nanoseconds, address as its bits), a fraction
// (percent), or text.
using Cell = std::variant<std::monostate, int64_t, double, std::string>;

// A line below a row, usually a frame: what, then where ("(file.c:12) [libx.so]"), which may be empty.
struct TableDetail {
  std::string text;
  std::string where;
};

struct TableRow {
  std::vector<Cell> cells;
  std::vector<TableDetail> details;  // the frames of a stack, innermost first
};

struct Table {
  std::string key;          // in JSON: "locks"
  std::string title;        // over the table; may be empty
  std::string details_key;  // in CSV and JSON, what TableRow::details are: "stack"; empty: there are none
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
  uint64_t rows_left_out = 0;  // by keep_top(), told below the table

  // A new row at the end; PENNA_CHECKs the number of cells.
  TableRow& add(std::vector<Cell> cells);
};

// A report: sentences, tables, sentences.
struct Report {
  std::vector<std::string> head;
  std::vector<Table> tables;
  std::vector<std::string> tail;
  std::vector<std::string> warnings;  // the health line: what makes these numbers less than the truth
};

// Cells from numbers that may be larger than an int64 (they come from untrusted sums): held at its maximum.
Cell number(uint64_t value);
inline Cell number(int64_t value) { return value; }

// Sorts by "COLUMN", "COLUMN:asc" or "COLUMN:desc" (key, key without its unit, or title; in any case). Without a
// direction numbers fall and text rises. Empty cells come last; equal rows keep their order. The error names the columns.
Result<> sort_table(Table& table, std::string_view order);

// Keeps the first `count` rows; 0 keeps all.
void keep_top(Table& table, size_t count);

}  // namespace penna
