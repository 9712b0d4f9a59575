// SPDX-License-Identifier: MIT
// A bar of '#' after the numbers of a row. Invariant: the largest value has the longest bar, every value but 0 has one.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "report/table.h"

namespace penna {

// Text only, and without a title: CSV and JSON have the number that it draws.
inline constexpr TableColumn kBarColumn = {"", "", CellKind::kText, false, false, true};

inline std::string bar_text(uint64_t value, uint64_t largest) {
  constexpr double kWidth = 30;
  if (value == 0 || largest == 0) return "";
  return std::string(static_cast<size_t>(std::ceil(kWidth * static_cast<double>(value) / static_cast<double>(largest))),
                     '#');
}

}  // namespace penna
