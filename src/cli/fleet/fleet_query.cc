// SPDX-License-Identifier: MIT
// See fleet_query.h. Answers come as TabSeparatedWithNamesAndTypes: a line of names, one of types, then the rows.
#include "cli/fleet/fleet_query.h"

#include <fmt/format.h>

#include <cstdlib>
#include <deque>

#include "base/whole_number.h"
#include "cli/output/table_output.h"
#include "export/text/csv_writer.h"
#include "export/text/json_writer.h"
#include "report/print.h"

namespace penna {
namespace {

enum class Shape { kInteger, kReal, kText };

Shape shape_of(std::string_view type) {
  constexpr std::string_view kNullable = "Nullable(";
  if (type.starts_with(kNullable)) type.remove_prefix(kNullable.size());
  if (type.starts_with("Int") || type.starts_with("UInt")) return Shape::kInteger;
  return type.starts_with("Float") || type.starts_with("Decimal") ? Shape::kReal : Shape::kText;
}

// Takes an answer in pieces, and passes its lines on to the writer.
class Lines {
 public:
  virtual ~Lines() = default;
  bool take(std::string_view piece) {
    text_ += piece;
    size_t from = 0;
    bool more = true;
    for (size_t end; more && (end = text_.find('\n', from)) != std::string::npos; from = end + 1)
      more = line(std::string_view(text_).substr(from, end - from));
    text_.erase(0, from);
    return more;
  }

 protected:
  virtual void begin(const std::vector<std::string>& names) = 0;
  virtual bool row(const std::vector<std::optional<std::string>>& cells) = 0;
  std::vector<Shape> shapes_;

 private:
  bool line(std::string_view text) {
    std::vector<std::optional<std::string>> cells = tab_separated_cells(text);
    if (++lines_ == 1) {
      for (const auto& cell : cells) names_.push_back(cell.value_or(""));
      return true;
    }
    if (lines_ == 2) {
      for (const auto& cell : cells) shapes_.push_back(shape_of(cell.value_or("")));
      shapes_.resize(names_.size(), Shape::kText);
      begin(names_);
      return true;
    }
    cells.resize(names_.size());
    return row(cells);
  }

  std::string text_;
  std::vector<std::string> names_;
  uint64_t lines_ = 0;
};

Cell cell_of(const std::optional<std::string>& text, Shape shape) {
  if (!text) return {};
  const auto whole = shape == Shape::kInteger ? whole_number<int64_t>(*text) : std::nullopt;
  return whole ? Cell(*whole) : Cell(*text);
}

class CsvLines : public Lines {
 public:
  explicit CsvLines(Output& output) : csv_(output.sink()) {}
  bool finish() { return csv_.finish(); }

 private:
  void begin(const std::vector<std::string>& names) override {
    for (const std::string& name : names) csv_.field(name);
    csv_.end_row();
  }
  bool row(const std::vector<std::optional<std::string>>& cells) override {
    for (const auto& cell : cells) cell ? csv_.field(*cell) : csv_.empty();
    csv_.end_row();
    return csv_.ok();
  }
  CsvWriter csv_;
};

class JsonLines : public Lines {
 public:
  explicit JsonLines(Output& output) : json_(output.sink()) { json_.begin_array(); }
  bool finish() {
    json_.end_array();
    return json_.finish();
  }

 private:
  void begin(const std::vector<std::string>& names) override { names_ = names; }
  bool row(const std::vector<std::optional<std::string>>& cells) override {
    json_.new_line();
    json_.begin_object();
    for (size_t i = 0; i < cells.size(); ++i) {
      json_.key(names_[i]);
      value(cells[i], shapes_[i]);
    }
    json_.end_object();
    return json_.ok();
  }
  void value(const std::optional<std::string>& text, Shape shape) {
    if (!text) return json_.null();
    if (shape == Shape::kReal) return json_.value(std::strtod(text->c_str(), nullptr));
    const Cell cell = cell_of(text, shape);
    if (const auto* whole = std::get_if<int64_t>(&cell)) return json_.value(*whole);
    if (shape == Shape::kInteger) return json_.value(uint64_t{std::strtoull(text->c_str(), nullptr, 10)});
    json_.value(std::string_view(*text));
  }
  JsonWriter json_;
  std::vector<std::string> names_;
};

class TableLines : public Lines {
 public:
  explicit TableLines(size_t most) : most_(most) {}

  bool write(const TableOptions& options, Output& output) {
    if (table_.columns.empty()) return true;  // a statement that returns no rows
    table_.rows_left_out = left_out_;
    table_.how_to_choose = "the query chooses";
    if (!table_.rows.empty()) return print_table(table_, style_of(options, output), output.sink());
    std::string header;
    for (const std::string& title : titles_) header += (header.empty() ? "" : "  ") + title;
    return output.write(header + "\n(no rows)\n");
  }
  std::vector<TableRow>& rows() { return table_.rows; }

 private:
  void begin(const std::vector<std::string>& names) override {
    for (size_t i = 0; i < names.size(); ++i) {
      TableColumn column;
      column.key = column.title = titles_.emplace_back(names[i]);
      column.kind = shapes_[i] == Shape::kText ? CellKind::kText : CellKind::kNumber;
      column.cut = shapes_[i] == Shape::kText;
      column.importance = Importance::kMain;
      table_.columns.push_back(column);
    }
  }
  bool row(const std::vector<std::optional<std::string>>& texts) override {
    if (most_ != 0 && table_.rows.size() == most_) {
      ++left_out_;
      return true;
    }
    std::vector<Cell> cells;
    for (size_t i = 0; i < texts.size(); ++i) cells.push_back(cell_of(texts[i], shapes_[i]));
    table_.add(std::move(cells));
    return true;
  }
  size_t most_;
  uint64_t left_out_ = 0;
  std::deque<std::string> titles_;  // TableColumn has views of them
  Table table_;
};

// Columns keep their names from the query; a join without a match gives NULL; on a cluster, the second table of a join
// is read once (global join). Read-only: no query changes data.
FleetAnswer ask(FleetServer& server, const std::string& query, Lines& lines) {
  std::string text = query;
  while (!text.empty() && (text.back() == ';' || text.back() == ' ' || text.back() == '\n')) text.pop_back();
  return server.ask({text,
                     {},
                     {{"readonly", "2"},
                      {"database", server.database()},
                      {"default_format", "TabSeparatedWithNamesAndTypes"},
                      {"distributed_product_mode", "global"},
                      {"enable_optimize_predicate_expression", "1"},
                      {"join_use_nulls", "1"},
                      {"wait_end_of_query", "1"}},
                     [&](std::string_view piece) { return lines.take(piece); }});
}

}  // namespace

Result<bool> write_fleet_answer(FleetServer& server, const std::string& query, const TableOptions& options,
                                Output& output) {
  const auto error = [](const FleetAnswer& answer) { return Error{answer.text}; };
  if (options.format == Format::kCsv) {
    CsvLines lines(output);
    if (const FleetAnswer answer = ask(server, query, lines); !answer.is_done()) return error(answer);
    return lines.finish();
  }
  if (options.format == Format::kJson) {
    JsonLines lines(output);
    if (const FleetAnswer answer = ask(server, query, lines); !answer.is_done()) return error(answer);
    return lines.finish();
  }
  TableLines lines(rows_to_show(options));
  if (const FleetAnswer answer = ask(server, query, lines); !answer.is_done()) return error(answer);
  return lines.write(options, output);
}

Result<std::vector<std::vector<Cell>>> fleet_rows(FleetServer& server, const std::string& query) {
  TableLines lines(0);
  if (const FleetAnswer answer = ask(server, query, lines); !answer.is_done()) return Error{answer.text};
  std::vector<std::vector<Cell>> rows;
  for (TableRow& row : lines.rows()) rows.push_back(std::move(row.cells));
  return rows;
}

}  // namespace penna
