// SPDX-License-Identifier: MIT
// Columns: a table described by its columns, each with what it is called and what it shows of an item.
//
// Why: text, CSV and JSON follow from one list, and a column cannot be added without its cells.
// Invariant: the cells of a row are in the order of the columns.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "report/table.h"

namespace penna {

// When a cell is made: names are looked up for the rows that are shown only.
enum class Fill : uint8_t { kAtOnce, kWhenShown };

// `Item`: what a row is about, with all that its cells need.
template <typename Item>
struct Column {
  TableColumn column;
  Cell (*value)(const Item&);
  Fill fill = Fill::kAtOnce;
};

template <typename Item>
class Columns {
 public:
  Columns(std::initializer_list<Column<Item>> columns) : columns_(columns) {}

  // Behind those that the table has.
  void declare(Table& table) {
    first_ = table.columns.size();
    for (const Column<Item>& one : columns_) table.columns.push_back(one.column);
  }
  std::vector<Cell> cells(const Item& item) const {
    std::vector<Cell> cells;
    cells.reserve(columns_.size());
    for (const Column<Item>& one : columns_)
      cells.push_back(one.fill == Fill::kAtOnce ? one.value(item) : Cell{std::string()});
    return cells;
  }
  // For Table::complete.
  void complete(TableRow& row, const Item& item) const {
    for (size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i].fill == Fill::kWhenShown) row.cells[first_ + i] = columns_[i].value(item);
  }

 private:
  std::vector<Column<Item>> columns_;
  size_t first_ = 0;
};

}  // namespace penna
