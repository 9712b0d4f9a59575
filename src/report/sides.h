// SPDX-License-Identifier: MIT
// What two recordings have under the same name: for comparisons.
//
// Why by name: between two builds every address changes, and names are what people compare.
// Invariant: each name in either recording occurs once; null: that side does not have it.
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

  // For a side that does not have it, an empty cell, not 0.
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

// A row.
template <typename Sums>
struct NamedSides {
  std::string name;
  SidesOf<Sums> sides;
  bool is_quiet;  // its change is noise
};

// By the absolute change of a sum; ties by name, in the order of the maps.
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

// Makes a row from each name, by change, grey if that is noise: is_quiet(sides). Returns the number of those.
template <auto kSum, typename Sums, typename IsQuiet>
int64_t fill_sides(const Columns<NamedSides<Sums>>& columns, const std::map<std::string, Sums>& a,
                   const std::map<std::string, Sums>& b, IsQuiet&& is_quiet, Table& table) {
  std::vector<NamedSides<Sums>> items;
  for (const auto& [name, sides] : sides_by_change<kSum>(a, b)) items.push_back({name, sides, is_quiet(sides)});
  columns.fill(table, items);
  for (TableRow& row : table.rows) row.is_quiet = items[row.source].is_quiet;
  return std::count_if(items.begin(), items.end(), [](const NamedSides<Sums>& item) { return item.is_quiet; });
}

}  // namespace penna
