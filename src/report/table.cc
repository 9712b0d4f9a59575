// SPDX-License-Identifier: MIT
// See table.h.
#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "base/check.h"
#include "base/nearest_name.h"

namespace penna {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// "total" for "total_ns": what people call a column.
std::string plain_key(const TableColumn& column) {
  for (std::string_view unit : {"_ns", "_bytes"}) {
    const std::string_view key = column.key;
    if (key.size() > unit.size() && key.substr(key.size() - unit.size()) == unit)
      return std::string(key.substr(0, key.size() - unit.size()));
  }
  return std::string(column.key);
}

// As it is spelled, or as people call it. Arguments of points are columns, too: n and N are two.
std::optional<size_t> find_column(const Table& table, std::string_view given) {
  for (size_t i = 0; i < table.columns.size(); ++i)
    if (given == table.columns[i].key) return i;
  const std::string name = lower(given);
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const TableColumn& column = table.columns[i];
    if (name == column.key || name == plain_key(column) || name == lower(column.title)) return i;
  }
  return std::nullopt;
}

std::vector<std::string> column_names(const Table& table) {
  std::vector<std::string> names;
  for (const TableColumn& column : table.columns) names.push_back(plain_key(column));
  return names;
}

bool is_list(const Table& table, const std::string& name) {
  return !name.empty() && (name == table.details_key || name == table.other_key);
}

bool is_number(const Cell& cell) {
  return std::holds_alternative<int64_t>(cell) || std::holds_alternative<double>(cell);
}

double as_double(const Cell& cell) {
  const auto* whole = std::get_if<int64_t>(&cell);
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(cell);
}

// True if a < b. Neither may be empty. Numbers come before text, should a column ever hold both: in one of numbers,
// text is the digits of one beyond int64_t, and the longer one is larger. NaN comes behind all numbers.
bool less(const Cell& a, const Cell& b, CellKind kind) {
  if (std::holds_alternative<int64_t>(a) && std::holds_alternative<int64_t>(b))
    return std::get<int64_t>(a) < std::get<int64_t>(b);
  if (is_number(a) && is_number(b)) {
    const double x = as_double(a), y = as_double(b);
    return std::isnan(x) || std::isnan(y) ? !std::isnan(x) && std::isnan(y) : x < y;
  }
  if (is_number(a) != is_number(b)) return is_number(a);
  const std::string &x = std::get<std::string>(a), &y = std::get<std::string>(b);
  return kind == CellKind::kNumber && x.size() != y.size() ? x.size() < y.size() : x < y;
}

struct SortOrder {
  size_t column = 0;
  bool rising = false;
};

Result<SortOrder> find_order(const Table& table, std::string_view order) {
  const size_t colon = order.rfind(':');
  const std::string name(order.substr(0, colon));
  const std::string direction = colon == std::string_view::npos ? "" : lower(order.substr(colon + 1));
  if (!direction.empty() && direction != "asc" && direction != "desc")
    return Error{fmt::format("cannot sort in direction '{}': write {}:asc or {}:desc", direction, name, name)};
  const std::optional<size_t> index = find_column(table, name);
  if (!index) {
    return Error{there_is_no("column", name, column_names(table))};
  }
  return SortOrder{*index, direction.empty() ? table.columns[*index].kind == CellKind::kText : direction == "asc"};
}

// "calls,self:asc": rows that are equal by the first are ordered by the next.
Result<std::vector<SortOrder>> find_orders(const Table& table, std::string_view orders) {
  // An argument that is named by an expression may have a comma: "max(a, b):desc".
  if (const Result<SortOrder> whole = find_order(table, orders)) return std::vector<SortOrder>{*whole};
  std::vector<SortOrder> found;
  for (bool more = true; more;) {
    const size_t comma = orders.find(',');
    more = comma != std::string_view::npos;
    found.push_back(PENNA_TRY(find_order(table, orders.substr(0, comma))));
    if (more) orders.remove_prefix(comma + 1);
  }
  return found;
}

void sort_rows(Table& table, const SortOrder& by) {
  const CellKind kind = table.columns[by.column].kind;
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const TableRow& left, const TableRow& right) {
    const Cell &a = left.cells[by.column], &b = right.cells[by.column];
    const bool a_empty = std::holds_alternative<std::monostate>(a), b_empty = std::holds_alternative<std::monostate>(b);
    if (a_empty || b_empty) return !a_empty && b_empty;
    return by.rising ? less(a, b, kind) : less(b, a, kind);
  });
}

}  // namespace

TableRow& Table::add(std::vector<Cell> cells, uint32_t source) {
  PENNA_CHECK(cells.size() == columns.size());
  TableRow& row = rows.emplace_back();
  row.cells = std::move(cells);
  row.source = source;
  return row;
}

void Report::add(Table table) {
  if (table.rows.empty() && table.rows_empty == 0) table.title.clear();
  tables.push_back(std::move(table));
}

Cell number(uint64_t value) { return static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX)); }

Result<> select_rows(Table& table, std::string_view order, size_t top) {
  bool completed = false;
  const auto complete_all = [&] {
    if (table.complete && !completed)
      for (TableRow& row : table.rows) table.complete(row);
    completed = true;
  };
  if (!order.empty()) {
    const std::vector<SortOrder> orders = PENNA_TRY(find_orders(table, order));
    for (const SortOrder& by : orders)
      if (table.columns[by.column].late) complete_all();
    for (size_t i = orders.size(); i-- > 0;) sort_rows(table, orders[i]);
    table.order = {};
  }
  if (top != 0) table.rows_empty += std::erase_if(table.rows, [](const TableRow& row) { return row.is_empty; });
  if (top != 0 && table.rows.size() > top) {
    table.rows_left_out += table.rows.size() - top;
    table.rows.resize(top);
  }
  complete_all();
  return ok();
}

// What remains of the lists below rows: those that are named, and a first detail in the last column.
void choose_columns(Table& table, const std::vector<std::string>& names) {
  std::vector<size_t> chosen;
  std::vector<std::string> lists;
  for (const std::string& given : names) {
    const std::string name = lower(given);
    if (const std::optional<size_t> index = find_column(table, name))
      chosen.push_back(*index);
    else if (is_list(table, name))
      lists.push_back(name);
  }
  if (chosen.empty() && lists.empty()) return;
  const auto listed = [&lists](const std::string& key) {
    return std::find(lists.begin(), lists.end(), key) != lists.end();
  };
  size_t last = table.columns.size();  // the last one shown in text
  while (last != 0 && table.columns[last - 1].machine_only) --last;
  const bool in_row = table.details_in_row && !chosen.empty() && chosen.back() + 1 == last;
  for (TableRow& row : table.rows) {
    std::vector<Cell> cells;
    cells.reserve(chosen.size());
    for (size_t index : chosen) cells.push_back(row.cells[index]);
    row.cells = std::move(cells);
    if (!listed(table.details_key)) row.details.resize(std::min<size_t>(row.details.size(), in_row));
    if (!listed(table.other_key)) row.other_details.clear(), row.other_title.clear();
  }
  std::vector<TableColumn> columns;
  for (size_t index : chosen) {
    columns.push_back(table.columns[index]);
    columns.back().machine_only = false;
  }
  table.columns = std::move(columns);
  table.details_in_row = in_row;
  if (!listed(table.details_key)) table.details_key.clear();
  if (!listed(table.other_key)) table.other_key.clear();
  table.complete = nullptr;  // it knows the columns by index
  table.has_chosen_columns = true;
}

Result<> check_columns(const std::vector<Table>& tables, const std::vector<std::string>& names) {
  std::vector<std::string> known;
  const auto add = [&known](const std::string& name) {
    if (!name.empty() && std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
  };
  for (const Table& table : tables) {
    for (const std::string& name : column_names(table)) add(name);
    add(table.details_key);
    add(table.other_key);
  }
  for (const std::string& name : names) {
    const auto has = [name = lower(name)](const Table& table) {
      return find_column(table, name).has_value() || is_list(table, name);
    };
    if (std::none_of(tables.begin(), tables.end(), has)) return Error{there_is_no("field", name, known)};
  }
  return ok();
}

}  // namespace penna
