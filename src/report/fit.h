// SPDX-License-Identifier: MIT
// Which columns of a table fit on a line, and how wide each is: decided only here.
//
// Invariant: what is shown fits into the width, unless a single column is too wide and must not be cut; names keep
// kSmallestName columns of theirs, as long as another column can go instead.
#pragma once

#include <cstddef>
#include <vector>

#include "report/table.h"

namespace penna {

constexpr size_t kColumnGap = 2;      // spaces between columns
constexpr size_t kSmallestName = 30;  // minimum width of a name that is cut

struct FitColumn {
  size_t width = 0;  // of its widest cell
  size_t least = 0;  // what it may be cut to; equal to `width`: shown whole or not at all
  Importance importance = Importance::kUsual;
  bool is_name = false;  // the most important name is always shown
};

struct Fit {
  std::vector<bool> shown;  // by column
  std::vector<size_t> widths;
};

// The least important columns are dropped first, of equally important ones the rightmost; then the widest are cut.
// `width` 0: nothing is dropped. `all`: no column is dropped, however long the lines.
Fit fit_columns(const std::vector<FitColumn>& columns, size_t width, bool all = false);

}  // namespace penna
