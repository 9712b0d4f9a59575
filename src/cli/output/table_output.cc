// SPDX-License-Identifier: MIT
// See table_output.h.
#include "cli/output/table_output.h"

#include <algorithm>

#include "base/check.h"
#include "base/say.h"
#include "options/terminal.h"
#include "report/print.h"

namespace penna {
namespace {

std::string detail_text(const TableDetail& detail) {
  return detail.where.empty() ? detail.text : detail.text + " " + detail.where;
}

// CsvWriter with JsonWriter's interface.
struct CsvCells {
  CsvWriter& csv;
  void value(const std::string& text) { csv.field(text); }
  void value(double real) { csv.field(real); }
  void value(int64_t whole) { csv.field(whole); }
  void address(uint64_t address) { csv.address(address); }
  void null() { csv.empty(); }
};

// A stack in one CSV field, frames separated by ';' as in folded stacks.
std::string folded_details(const std::vector<TableDetail>& details) {
  std::string folded;
  for (const TableDetail& detail : details) folded += (folded.empty() ? "" : ";") + detail_text(detail);
  return folded;
}

void header_csv(const Table& table, CsvWriter& csv) {
  for (const TableColumn& column : table.columns)
    if (!column.text_only) csv.field(column.key);
  if (!table.details_key.empty()) csv.field(table.details_key);
  if (!table.other_key.empty()) csv.field(table.other_key);
  csv.end_row();
}

void row_csv(const Table& table, const TableRow& row, CsvWriter& csv) {
  CsvCells cells{csv};
  for (size_t i = 0; i < row.cells.size(); ++i)
    if (!table.columns[i].text_only) write_cell(cells, row.cells[i], table.columns[i].kind);
  if (!table.details_key.empty()) csv.field(folded_details(row.details));
  if (!table.other_key.empty()) csv.field(folded_details(row.other_details));
  csv.end_row();
}

void table_csv(const Table& table, CsvWriter& csv) {
  header_csv(table, csv);
  for (const TableRow& row : table.rows) {
    row_csv(table, row, csv);
    if (!csv.ok()) return;
  }
}

void details_json(const std::string& key, const std::vector<TableDetail>& details, JsonWriter& json) {
  if (key.empty()) return;
  json.key(key);
  json.begin_array();
  for (const TableDetail& detail : details) json.value(detail_text(detail));
  json.end_array();
}

void cells_json(const Table& table, const TableRow& row, JsonWriter& json) {
  for (size_t i = 0; i < row.cells.size(); ++i) {
    if (table.columns[i].text_only) continue;
    json.key(table.columns[i].key);
    write_cell(json, row.cells[i], table.columns[i].kind);
  }
  details_json(table.details_key, row.details, json);
  details_json(table.other_key, row.other_details, json);
}

// A table may have its own fields in JSON (lists, objects), which no cell can represent: then these are the whole row.
void row_json(const Table& table, const TableRow& row, const RowFields& fields, JsonWriter& json) {
  json.new_line();
  json.begin_object();
  fields.table == table.key && !table.has_chosen_columns ? fields.write(row, json) : cells_json(table, row, json);
  json.end_object();
}

void table_json(const Table& table, const RowFields& fields, JsonWriter& json) {
  json.key(table.key);
  json.begin_array();
  for (const TableRow& row : table.rows) {
    row_json(table, row, fields, json);
    if (!json.ok()) break;
  }
  json.end_array();
}

void loss_json(const Report& report, JsonWriter& json) {
  json.field("state", report.state);
  json.key("loss");
  json.begin_object();
  for (const LossNumber& number : report.loss) json.field(number.name, number.count);
  json.end_object();
  json.key("cost");
  json.begin_object();
  for (const LossNumber& number : report.cost) json.field(number.name, number.count);
  json.end_object();
}

}  // namespace

// --sort may name a column that only one of several tables has: it fails only if no table has it. The others keep their
// order.
Result<> select_report_rows(Report& report, const TableOptions& options) {
  bool sorted = options.sort.empty();
  std::optional<Error> first_error;
  for (Table& table : report.tables) {
    const Result<> selected = select_rows(table, options.sort, rows_to_show(options));
    sorted |= selected.has_value();
    if (selected) continue;
    if (!first_error) first_error = selected.error();
    (void)select_rows(table, "", rows_to_show(options));
  }
  if (!sorted && first_error) return *first_error;
  PENNA_TRY(check_columns(report.tables, options.fields));
  for (Table& table : report.tables) choose_columns(table, options.fields);
  return ok();
}

TextStyle style_of(const TableOptions& options, const Output& output) {
  return {wants_color(options.color, output.fd()), options.wide ? 0 : terminal_width(output.fd())};
}

bool write_report(const Report& report, const TableOptions& options, Output& output, const RowFields& fields) {
  if (options.format == Format::kTable) {
    return print_report(report, style_of(options, output), output.sink());
  }
  if (options.format == Format::kCsv) {
    CsvWriter csv(output.sink());
    const auto main =
        std::find_if(report.tables.begin(), report.tables.end(), [](const Table& table) { return !table.is_aside; });
    if (main != report.tables.end()) table_csv(*main, csv);
    for (const std::string& warning : report.warnings) say(warning);  // it has no place for them
    return csv.finish();
  }
  JsonWriter json(output.sink());
  json.begin_object();
  json.field_of_texts("about", report.head);
  for (const Table& table : report.tables) table_json(table, fields, json);
  json.field_of_texts("notes", report.tail);
  json.field_of_texts("warnings", report.warnings);
  if (!report.state.empty()) loss_json(report, json);
  json.end_object();
  return json.finish();
}

ReportStream::ReportStream(Format format, Output& output, Table table)
    : table_(std::move(table)), csv_(output.sink()), json_(output.sink()), is_json_(format == Format::kJson) {
  PENNA_CHECK(format != Format::kTable);
  if (!is_json_) {
    header_csv(table_, csv_);
    return;
  }
  json_.begin_object();
  json_.key(table_.key);
  json_.begin_array();
}

bool ReportStream::add(std::vector<Cell> cells) {
  PENNA_CHECK(cells.size() == table_.columns.size());
  row_.cells = std::move(cells);
  is_json_ ? row_json(table_, row_, {}, json_) : row_csv(table_, row_, csv_);
  return is_json_ ? json_.ok() : csv_.ok();
}

bool ReportStream::finish(const Report& closing) {
  if (!is_json_) {
    for (const std::string& warning : closing.warnings) say(warning);
    return csv_.finish();
  }
  json_.end_array();
  json_.field_of_texts("about", closing.head);
  json_.field_of_texts("notes", closing.tail);
  json_.field_of_texts("warnings", closing.warnings);
  if (!closing.state.empty()) loss_json(closing, json_);
  json_.end_object();
  return json_.finish();
}

}  // namespace penna
