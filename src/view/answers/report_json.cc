// SPDX-License-Identifier: MIT
// See report_json.h.
#include "view/answers/report_json.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "view/answers/block_rows.h"

namespace penna {
namespace {

// By CellKind.
constexpr const char* kCellKinds[] = {"count",        "number",       "bytes",          "duration", "percent", "change",
                                      "bytes_change", "count_change", "percent_change", "address",  "text"};
static_assert(std::size(kCellKinds) == static_cast<size_t>(CellKind::kText) + 1);

bool is_shown(const TableColumn& column) { return !column.machine_only && !column.text_only; }

// The allocations of one stack a row: the page lists their blocks (block_rows.h).
bool is_of_allocations(const Table& table) {
  return table.details_key == "stack" &&
         (table.key == "alloc" || table.key == "leaks" || table.key == "temp" || table.key == "peak");
}

// In a column of numbers, one that a browser would round, or that JSON has no word for, is text.
void write_page_cell(JsonWriter& json, const Cell& cell, CellKind kind) {
  constexpr int64_t kMostExact = INT64_C(1) << 53;
  const auto* const whole = std::get_if<int64_t>(&cell);
  const auto* const real = std::get_if<double>(&cell);
  if (kind == CellKind::kNumber && whole != nullptr && (*whole >= kMostExact || *whole <= -kMostExact))
    return json.value(std::to_string(*whole));
  if (kind == CellKind::kNumber && real != nullptr && !std::isfinite(*real))
    return json.value(fmt::format("{}", *real));
  write_cell(json, cell, kind);
}

void write_row(JsonWriter& json, const Table& table, const TableRow& row, const char* source) {
  json.begin_object();
  json.key("cells");
  json.begin_array();
  for (size_t i = 0; i < table.columns.size(); ++i)
    if (is_shown(table.columns[i])) write_page_cell(json, row.cells[i], table.columns[i].kind);
  json.end_array();
  write_details(json, "details", row.details);
  write_details(json, "other_details", row.other_details);
  if (!row.other_details.empty()) json.field("other_title", row.other_title);
  if (is_of_allocations(table) && !row.details.empty()) json.field("stack", stack_id(row.details));
  if (source != nullptr) json.field(source, row.source);
  if (row.is_quiet) json.field("quiet", true);
  json.end_object();
}

void write_table(JsonWriter& json, const Table& table, const char* source) {
  json.begin_object();
  json.field("key", table.key);
  json.field("title", table.title);
  json.key("columns");
  json.begin_array();
  for (const TableColumn& column : table.columns) {
    if (!is_shown(column)) continue;
    json.begin_object();
    json.field("key", column.key);
    json.field("title", column.title);
    json.field("kind", kCellKinds[static_cast<size_t>(column.kind)]);
    json.end_object();
  }
  json.end_array();
  json.key("rows");
  json.begin_array();
  for (const TableRow& row : table.rows) write_row(json, table, row, source);
  json.end_array();
  json.field("rows_left_out", table.rows_left_out);
  json.end_object();
}

}  // namespace

void write_details(JsonWriter& json, const char* key, const std::vector<TableDetail>& details) {
  if (details.empty()) return;
  json.key(key);
  json.begin_array();
  for (const TableDetail& detail : details) {
    json.begin_object();
    json.field("text", detail.text);
    json.field("where", detail.where);
    json.end_object();
  }
  json.end_array();
}

void write_report(JsonWriter& json, const Report& report, const char* source) {
  json.field_of_texts("head", report.head);
  json.key("tables");
  json.begin_array();
  for (const Table& table : report.tables)
    if (!table.columns.empty()) write_table(json, table, source);
  json.end_array();
  json.field_of_texts("tail", report.tail);
  json.field_of_texts("warnings", report.warnings);
}

std::string report_json(const Report& report) {
  return json_text([&](JsonWriter& json) { write_report(json, report); });
}

}  // namespace penna
