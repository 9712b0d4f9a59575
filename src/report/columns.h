// SPDX-License-Identifier: MIT
// Columns: a table as one list of columns, each with its key, title, kind and what it shows of an item.
//
// Why: text, CSV and JSON follow from that list, so no format can miss a column. Values are captureless: names are
// looked up long after the function that lists the columns has returned, so a value may depend only on the item.
// Invariant: the cells of a row are in the order of the columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "report/table.h"

namespace penna {

// When a cell is made. Looking up names is slow: it is only done for rows that are shown.
enum class Fill : uint8_t { kAtOnce, kWhenShown };

// Converts a number, a text or a cell to a cell; numbers above INT64_MAX become INT64_MAX.
template <typename Value>
Cell to_cell(Value value) {
  if constexpr (std::is_same_v<Value, Cell>)
    return value;
  else if constexpr (std::is_unsigned_v<Value>)
    return number(uint64_t{value});
  else if constexpr (std::is_integral_v<Value>)
    return int64_t{value};
  else if constexpr (std::is_floating_point_v<Value>)
    return double{value};
  else
    return std::string(std::move(value));
}

// `Item`: what a row is about, with everything its cells need.
template <typename Item>
struct Column {
  // `Shows`: a lambda without captures; what it returns goes through to_cell().
  template <typename Shows>
  Column(const TableColumn& what, Shows, Fill when = Fill::kAtOnce)
      : column(what), value([](const Item& item) { return to_cell(Shows{}(item)); }), fill(when) {}
  Column(const TableColumn& what, Cell (*shows)(const Item&), Fill when = Fill::kAtOnce)
      : column(what), value(shows), fill(when) {}

  TableColumn column;
  Cell (*value)(const Item&);
  Fill fill;
};

template <typename Item>
class Columns {
 public:
  // Makes what is not in a cell: the details of a row. Called on a copy of the item when the row is shown, before the
  // cells made at that time, so it can store in the item what they need.
  using Describe = void (*)(TableRow&, Item&);

  Columns() = default;
  Columns(std::initializer_list<Column<Item>> columns) { add(columns); }

  // Appends. `Part`: Item, or a base of it.
  template <typename Part>
  void add(const Column<Part>& one) {
    columns_.push_back({one.column, one.value, one.fill});
  }
  void add(std::initializer_list<Column<Item>> columns) {
    for (const Column<Item>& one : columns) add(one);
  }
  template <typename Part>
  void add(const Columns<Part>& others) {
    for (const auto& one : others.columns_) columns_.push_back({one.column, one.value, one.fill});
  }

  // Gives an empty table these columns.
  void declare(Table& table) const {
    for (const Stored& one : columns_) {
      table.columns.push_back(one.column);
      table.columns.back().late = one.fill == Fill::kWhenShown;
    }
  }
  // All cells of a row; those filled later are blank.
  std::vector<Cell> cells(const Item& item) const {
    std::vector<Cell> cells;
    cells.reserve(columns_.size());
    for (const Stored& one : columns_) cells.push_back(one.fill == Fill::kAtOnce ? one.value(item) : blank(one));
    return cells;
  }
  // Makes a row from each item. TableRow::source is the index of its item.
  void fill(Table& table, std::vector<Item> items, Describe describe = nullptr) const {
    declare(table);
    table.rows.reserve(items.size());
    for (uint32_t i = 0; i < items.size(); ++i) table.add(cells(items[i]), i);
    if (describe == nullptr && !has_late_cells()) return;
    table.complete = [columns = *this, describe,
                      kept = std::make_shared<const std::vector<Item>>(std::move(items))](TableRow& row) {
      Item item = (*kept)[row.source];
      if (describe != nullptr) describe(row, item);
      columns.complete(row, item);
    };
  }

 private:
  template <typename>
  friend class Columns;

  struct Stored {
    TableColumn column;
    std::function<Cell(const Item&)> value;  // a plain function, possibly of a base of Item
    Fill fill;
  };

  bool has_late_cells() const {
    return std::any_of(columns_.begin(), columns_.end(), [](auto& one) { return one.fill == Fill::kWhenShown; });
  }
  static Cell blank(const Stored& one) { return one.column.kind == CellKind::kText ? Cell{std::string()} : Cell{}; }
  void complete(TableRow& row, const Item& item) const {
    for (size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i].fill == Fill::kWhenShown) row.cells[i] = columns_[i].value(item);
  }

  std::vector<Stored> columns_;
};

}  // namespace penna
