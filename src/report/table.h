// SPDX-License-Identifier: MIT
// Table: the content of a report as typed values; how it looks is decided later (print.h, cli/output/table_output.h).
//
// Why: a number kept as a number can be sorted, summed, printed as "1.2 MB" and written raw to CSV.
// Invariant: every row has as many cells as the table has columns.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace penna {

// Takes the next piece of text. False: no more can be taken, stop.
using TextSink = std::function<bool(std::string_view)>;

struct TextStyle {
  bool color = false;
  size_t width = 0;  // of a line; 0: unlimited, nothing is cut
};

// How a number is shown in text. CSV and JSON write raw values: bytes, nanoseconds, percent.
enum class CellKind : uint8_t {
  kCount,
  kNumber,  // a whole number that is not an amount: a pid
  kBytes,
  kDuration,  // nanoseconds
  kPercent,
  kChange,  // nanoseconds, with a sign
  kBytesChange,
  kCountChange,
  kPercentChange,
  kAddress,
  kText,
};

// Which columns of a table are dropped if a line has no room for all of them: the lowest first.
enum class Importance : uint8_t { kMinor, kUsual, kMain };

struct TableColumn {
  // Literals: as strings, the column lists in the reports would take longer to compile than everything else there.
  std::string_view key;    // in CSV, JSON and --sort: "total_ns"
  std::string_view title;  // above the column in text: "TOTAL"
  CellKind kind = CellKind::kText;
  bool cut = false;                        // for a text column: its cells may be cut to fit a terminal
  bool machine_only = false;               // in CSV and JSON, and for sorting; not in text
  bool text_only = false;                  // the opposite: a drawing
  bool is_prose = false;                   // for the last column: its sentences continue below, and are not cut
  std::optional<Importance> importance{};  // nothing: names (`cut`) and the first column, the sort key, are main
  bool late = false;                       // its cells are empty until Table::complete has been called
};

// A column that is dropped first, or kept as long as possible.
constexpr TableColumn minor(TableColumn column) {
  column.importance = Importance::kMinor;
  return column;
}
constexpr TableColumn usual(TableColumn column) {
  column.importance = Importance::kUsual;
  return column;
}
constexpr TableColumn prose(TableColumn column) {
  column.is_prose = true;
  return column;
}

// Empty (unknown: "-", "", null), a whole number (count, bytes, nanoseconds, address as its bits), a fraction
// (percent), or text.
using Cell = std::variant<std::monostate, int64_t, double, std::string>;

// For writers of raw values such as JsonWriter. An empty cell is "no such value": null in JSON, an empty field in CSV,
// and never 0.
template <typename Writer>
void write_cell(Writer& out, const Cell& cell, CellKind kind) {
  if (const auto* text = std::get_if<std::string>(&cell)) return out.value(*text);
  if (const auto* real = std::get_if<double>(&cell)) return out.value(*real);
  if (const auto* whole = std::get_if<int64_t>(&cell))
    return kind == CellKind::kAddress ? out.address(static_cast<uint64_t>(*whole)) : out.value(*whole);
  out.null();
}

// A line below a row, usually a frame: what, then where ("(file.c:12) [libx.so]"), which may be empty.
struct TableDetail {
  std::string text;
  std::string where;
};

struct TableRow {
  std::vector<Cell> cells;
  std::vector<TableDetail> details;  // the frames of a stack, innermost first
  std::string other_title;           // shown above other_details in text
  std::vector<TableDetail> other_details;
  uint32_t source = 0;    // identifies the row to Table::complete
  bool is_quiet = false;  // grey on a terminal
  bool is_empty = false;  // without information: left out, unless all rows are requested
};

struct Table {
  std::string key;              // in JSON: "locks"
  std::string title;            // above the table; may be empty
  std::string_view order;       // after the title: "sorted by TOTAL"; select_rows() drops it if it sorts differently
  std::string details_key;      // in CSV and JSON, the name of TableRow::details: "stack"; empty: only in text
  std::string other_key;        // the same for TableRow::other_details
  bool is_aside = false;        // precedes the report's main table: not written to CSV, which has one table
  bool details_in_row = false;  // in text, the first detail is shown in its row, instead of the last column's cell
  bool has_chosen_columns = false;                      // no column is dropped for lack of room
  std::string_view how_to_choose = "--fields chooses";  // the columns, if some do not fit
  size_t most_details = SIZE_MAX;  // lines of a row's details in text, and of its other ones; mentions those left out
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
  uint64_t rows_left_out = 0;  // by select_rows(), mentioned below the table
  uint64_t rows_empty = 0;     // the same for rows without information
  std::string_view empty_are;  // what these are: "counters are 0"
  // In text, draws the table instead of its rows; false if the sink returned false.
  std::function<bool(const TextStyle&, const TextSink&)> draw;
  // Fills the cells of `late` columns and the details of a row. Name lookup is slow: only rows that are shown get them,
  // unless a late column decides the order.
  std::function<void(TableRow&)> complete;

  // A new row at the end; PENNA_CHECKs the number of cells.
  TableRow& add(std::vector<Cell> cells, uint32_t source = 0);
};

struct LossNumber {
  std::string name;
  uint64_t count = 0;
};

// A report: sentences, tables, sentences.
struct Report {
  std::vector<std::string> head;
  std::vector<Table> tables;
  std::vector<std::string> tail;
  std::vector<std::string> warnings;  // the health line: what makes these numbers wrong or incomplete
  std::string_view state{};           // in JSON: the state of the recording's file (file_state.h); empty: no recording
  std::vector<LossNumber> loss{};     // in JSON, with a state
  std::vector<LossNumber> cost{};     // likewise, the cost of recording

  // Every table that a report can have is always present. One without rows loses its title: it disappears from text,
  // and is an empty list in JSON and a header in CSV.
  void add(Table table);
};

// Cells from numbers that may exceed int64 (they come from untrusted sums): clamped to its maximum.
Cell number(uint64_t value);
inline Cell number(int64_t value) { return value; }

// Sorts by "COLUMN", "COLUMN:asc" or "COLUMN:desc" (key, key without its unit, or title; case-insensitive), or several
// of them separated by commas, the first having precedence; keeps the first `top` rows (0: all, including empty ones)
// and completes them. Without a direction numbers descend and text ascends; without a column the order stays. Empty
// cells come last; equal rows keep their order. The error lists the columns.
Result<> select_rows(Table& table, std::string_view order, size_t top);

// Keeps the named columns, named as for --sort, in that order; "stack" and other lists below rows count as columns.
// Unknown names are ignored: a table with none of them stays as it is. The rows must be complete.
void choose_columns(Table& table, const std::vector<std::string>& names);
// Error for the first name that no table has; it gives the nearest one and the list.
Result<> check_columns(const std::vector<Table>& tables, const std::vector<std::string>& names);

}  // namespace penna
