// SPDX-License-Identifier: MIT
// See sql_output.h.
#include "cli/sql/sql_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "base/printable.h"
#include "cli/output/table_output.h"
#include "report/print.h"
#include "sql/duckdb/values.h"

namespace penna {
namespace {

// visit(columns, rows) for each chunk; it returns false to stop.
template <typename Visit>
Result<bool> each_chunk(SqlResult& result, Visit&& visit) {
  for (;;) {
    DuckChunk chunk = PENNA_TRY(result.next());
    if (chunk == nullptr) return true;
    std::vector<DuckColumn> columns;
    for (size_t i = 0; i < result.columns(); ++i)
      columns.emplace_back(result.api(), result.api().data_chunk_get_vector(chunk, i), result.type(i));
    const uint64_t rows = result.api().data_chunk_get_size(chunk);
    const bool more = rows == 0 || visit(columns, rows);
    result.done(chunk);
    if (!more) return false;
  }
}

Cell cell_of(const DuckColumn& column, DuckShape shape, uint64_t row) {
  if (column.is_null(row)) return {};
  if (shape == DuckShape::kInteger) return column.integer(row);
  return column.text(row);
}

Result<bool> write_csv(SqlResult& result, Output& output) {
  CsvWriter csv(output.sink());
  for (size_t i = 0; i < result.columns(); ++i) csv.field(result.column(i));
  csv.end_row();
  const bool more = PENNA_TRY(each_chunk(result, [&](const std::vector<DuckColumn>& columns, uint64_t rows) {
    for (uint64_t row = 0; row < rows; ++row) {
      for (const DuckColumn& column : columns) column.is_null(row) ? csv.empty() : csv.field(column.text(row));
      csv.end_row();
    }
    return csv.ok();
  }));
  return csv.finish() && more;
}

Result<bool> write_json(SqlResult& result, Output& output) {
  std::vector<std::string> names;
  for (size_t i = 0; i < result.columns(); ++i) names.push_back(result.column(i));
  JsonWriter json(output.sink());
  json.begin_array();
  const bool more = PENNA_TRY(each_chunk(result, [&](const std::vector<DuckColumn>& columns, uint64_t rows) {
    for (uint64_t row = 0; row < rows; ++row) {
      json.new_line();
      json.begin_object();
      for (size_t i = 0; i < columns.size(); ++i) {
        json.key(names[i]);
        columns[i].json(row, json);
      }
      json.end_object();
    }
    return json.ok();
  }));
  json.end_array();
  return json.finish() && more;
}

// Right-aligned.
bool is_number(const DuckApi& api, DuckType type) {
  switch (api.get_type_id(type)) {
    case kDuckUbigint:
    case kDuckHugeint:
    case kDuckUhugeint:
    case kDuckDecimal:
    case kDuckFloat:
    case kDuckDouble: return true;
    default: return shape_of(api, type) == DuckShape::kInteger;
  }
}

// For EXPLAIN: a drawing.
Result<bool> write_plan(SqlResult& result, Output& output) {
  return each_chunk(result, [&](const std::vector<DuckColumn>& columns, uint64_t rows) {
    bool written = true;
    for (uint64_t row = 0; row < rows; ++row) {
      const std::string text = columns.back().text(row);
      for (size_t at = 0, end; at < text.size() && written; at = end + 1) {
        end = std::min(text.find('\n', at), text.size());
        written = output.write(printable(text.substr(at, end - at)) + "\n");
      }
    }
    return written;
  });
}

Result<bool> write_table(SqlResult& result, const TableOptions& options, Output& output) {
  std::deque<std::string> titles;  // TableColumn refers to them
  Table table;
  for (size_t i = 0; i < result.columns(); ++i) {
    const bool number = is_number(result.api(), result.type(i));
    TableColumn column;
    column.key = column.title = titles.emplace_back(result.column(i));
    column.kind = number ? CellKind::kNumber : CellKind::kText;
    column.cut = !number;
    column.importance = Importance::kMain;
    table.columns.push_back(column);
  }
  const size_t most = rows_to_show(options);
  uint64_t left_out = 0;
  PENNA_TRY(each_chunk(result, [&](const std::vector<DuckColumn>& columns, uint64_t rows) {
    for (uint64_t row = 0; row < rows; ++row) {
      if (most != 0 && table.rows.size() == most) {
        left_out += rows - row;
        break;
      }
      std::vector<Cell> cells;
      for (size_t i = 0; i < columns.size(); ++i)
        cells.push_back(cell_of(columns[i], shape_of(result.api(), result.type(i)), row));
      table.add(std::move(cells));
    }
    return true;
  }));
  table.rows_left_out = left_out;
  table.how_to_choose = "the query chooses";
  const TextStyle style = style_of(options, output);
  if (table.rows.empty()) {
    std::string header;
    for (const std::string& title : titles) header += (header.empty() ? "" : "  ") + title;
    return output.write(header + "\n(no rows)\n");
  }
  return print_table(table, style, output.sink());
}

}  // namespace

Result<bool> write_sql_result(SqlResult& result, const TableOptions& options, Output& output) {
  if (!result.has_rows()) return each_chunk(result, [](const auto&, uint64_t) { return true; });
  switch (options.format) {
    case Format::kCsv: return write_csv(result, output);
    case Format::kJson: return write_json(result, output);
    case Format::kTable: break;
  }
  if (result.columns() == 2 && result.column(1) == "explain_value") return write_plan(result, output);
  return write_table(result, options, output);
}

}  // namespace penna
