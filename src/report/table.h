// SPDX-License-Identifier: MIT
// Table: what a report says, as typed values; how it looks is decided later (print.h, cli/table_output.h).
//
// Why: a number that is kept as a number can be sorted, summed, printed as "1.2 MB" and written raw to CSV.
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

// Takes the next piece of text. False: nobody can take more, stop.
using TextSink = std::function<bool(std::string_view)>;

struct TextStyle {
  bool color = false;
  size_t width = 0;  // of a line; 0: as wide as it takes, nothing is cut
};

// How a number is shown in text. CSV and JSON write all of them raw: bytes, nanoseconds, percent.
enum class CellKind : uint8_t {
  kCount,
  kNumber,  // a whole number that is no amount: a pid
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

// Which columns of a table go where a line has no room for all of them: those of the lowest first.
enum class Importance : uint8_t { kMinor, kUsual, kMain };

struct TableColumn {
  // Literals: as strings, the lists of columns in the reports would take longer to compile than all else there.
  std::string_view key;    // in CSV, JSON and --sort: "total_ns"
  std::string_view title;  // over the column of text: "TOTAL"
  CellKind kind = CellKind::kText;
  bool cut = false;                        // of a text column: on a terminal its cells may be cut to fit
  bool machine_only = false;               // in CSV and JSON, and to sort by; not in text
  bool text_only = false;                  // the other way round: a drawing
  bool is_prose = false;                   // of the last column: its sentences go on below, and are not cut
  std::optional<Importance> importance{};  // none: names (`cut`) and what is sorted by, the first column, are main
  bool late = false;                       // its cells are empty until Table::complete has been called
};

// A column that goes first, or that stays as long as possible.
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

// Empty (nothing is known: "-", "", null), a whole number (count, bytes, nanoseconds, address as its bits), a fraction
// (percent), or text.
using Cell = std::variant<std::monostate, int64_t, double, std::string>;

// For writers of raw values, as JsonWriter. An empty cell is "no such value": null in JSON, an empty field in CSV, and
// never 0.
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
  std::string other_title;           // stands over other_details in text
  std::vector<TableDetail> other_details;
  uint32_t source = 0;    // what Table::complete needs to know it by
  bool is_quiet = false;  // grey on a terminal
  bool is_empty = false;  // says nothing: left out, unless all rows are asked for
};

struct Table {
  std::string key;              // in JSON: "locks"
  std::string title;            // over the table; may be empty
  std::string_view order;       // behind the title: "sorted by TOTAL"; select_rows() drops it when it sorts otherwise
  std::string details_key;      // in CSV and JSON, what TableRow::details are: "stack"; empty: they are for text only
  std::string other_key;        // the same for TableRow::other_details
  bool is_aside = false;        // in front of what the report is about: not what CSV, which has one table, writes
  bool details_in_row = false;  // in text, the first detail stands in its row, in place of the last column's cell
  bool has_chosen_columns = false;                      // none of them goes for want of room
  std::string_view how_to_choose = "--fields chooses";  // the columns, where some have no room
  size_t most_details = SIZE_MAX;  // lines of details of a row in text, and of its other ones; what is left out is told
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
  uint64_t rows_left_out = 0;  // by select_rows(), told below the table
  uint64_t rows_empty = 0;     // the same of those that say nothing
  std::string_view empty_are;  // what these are: "counters are 0"
  // In text, draws the table in place of its rows; false when the sink did.
  std::function<bool(const TextStyle&, const TextSink&)> draw;
  // Fills the cells of `late` columns and the details of a row. Name lookup is slow: only the rows that are shown get
  // them, unless a late column decides on the order.
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
  std::vector<std::string> warnings;  // the health line: what makes these numbers less than the truth
  std::string_view state{};           // in JSON: of the recording's file (file_state.h); empty: it is about none
  std::vector<LossNumber> loss{};     // in JSON, with a state
  std::vector<LossNumber> cost{};     // the same, of recording

  // Each table that a report can have is there, always. One without rows loses its title: in text nothing is left of
  // it, in JSON an empty list, in CSV its header.
  void add(Table table);
};

// Cells from numbers that may be larger than an int64 (they come from untrusted sums): held at its maximum.
Cell number(uint64_t value);
inline Cell number(int64_t value) { return value; }

// Sorts by "COLUMN", "COLUMN:asc" or "COLUMN:desc" (key, key without its unit, or title; in any case), or several of
// them with commas between, of which the first counts most; keeps the first
// `top` rows (0: all, empty ones too) and completes them. Without a direction numbers fall and text rises; without a
// column the order stays. Empty cells come last; equal rows keep their order. The error names the columns.
Result<> select_rows(Table& table, std::string_view order, size_t top);

// Keeps the columns that are named, as --sort names them, in that order; "stack" and other lists below rows are columns
// too. Names that the table does not have are passed over: a table with none of them stays as it is. The rows must be
// complete.
void choose_columns(Table& table, const std::vector<std::string>& names);
// The first of the names that no table has is an error, which tells the nearest one and the list.
Result<> check_columns(const std::vector<Table>& tables, const std::vector<std::string>& names);

}  // namespace penna
