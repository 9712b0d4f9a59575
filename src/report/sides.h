// SPDX-License-Identifier: MIT
// What two recordings have of a name: for comparisons of them.
//
// Why by name: between two builds every address changes, and names are what people compare.
// Invariant: each name that either of them has is there once; null: that side has none of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/columns.h"

namespace penna {

template <typename Sums>
struct SidesOf {
  const Sums* a = nullptr;
  const Sums* b = nullptr;

  // An empty cell, not 0, of a side that has none of it.
  template <auto Sums::*kSum>
  static Cell cell(const Sums* side) {
    return side == nullptr ? Cell{} : Cell{static_cast<int64_t>(side->*kSum)};
  }
  template <auto Sums::*kSum>
  int64_t change() const {
    return (b != nullptr ? static_cast<int64_t>(b->*kSum) : 0) - (a != nullptr ? static_cast<int64_t>(a->*kSum) : 0);
  }
  template <auto Sums::*kSum>
  Cell percent() const {
    const auto before = a == nullptr ? 0 : static_cast<int64_t>(a->*kSum);
    if (before == 0) return Cell{};
    return Cell{100 * static_cast<double>(change<kSum>()) / static_cast<double>(before)};
  }
};

// By the size of the change of a sum, whichever its sign; equal ones by name, as the maps have them.
template <auto kSum, typename Sums>
std::vector<std::pair<std::string, SidesOf<Sums>>> sides_by_change(const std::map<std::string, Sums>& a,
                                                                   const std::map<std::string, Sums>& b) {
  std::map<std::string, SidesOf<Sums>> by_name;
  for (const auto& [name, sums] : a) by_name[name].a = &sums;
  for (const auto& [name, sums] : b) by_name[name].b = &sums;
  std::vector<std::pair<std::string, SidesOf<Sums>>> sides(by_name.begin(), by_name.end());
  std::stable_sort(sides.begin(), sides.end(), [](const auto& left, const auto& right) {
    return std::abs(left.second.template change<kSum>()) > std::abs(right.second.template change<kSum>());
  });
  return sides;
}

// A row for each item, grey where the change is noise. Gives how many are.
template <typename Item>
int64_t fill_with_noise(const Columns<Item>& columns, const std::vector<Item>& items, Table& table) {
  columns.fill(table, items);
  for (TableRow& row : table.rows) row.is_quiet = items[row.source].is_quiet;
  return std::count_if(items.begin(), items.end(), [](const Item& item) { return item.is_quiet; });
}

}  // namespace penna
