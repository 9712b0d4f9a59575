// SPDX-License-Identifier: MIT
// Which columns of a table a line has room for, and how wide each is: the one place that decides it.
//
// Invariant: what is shown fits into the width, unless one column alone is too wide for it and may not be cut; names
// keep kSmallestName columns of what they have, as long as another column can go instead.
#pragma once

#include <cstddef>
#include <vector>

#include "report/table.h"

namespace penna {

constexpr size_t kColumnGap = 2;      // spaces between columns
constexpr size_t kSmallestName = 30;  // of a name that is cut

struct FitColumn {
  size_t width = 0;  // of its widest cell
  size_t least = 0;  // what it may be cut to; as `width`: it is whole, or not shown
  Importance importance = Importance::kUsual;
  bool is_name = false;  // of names, the most important one is always shown
};

struct Fit {
  std::vector<bool> shown;  // by column
  std::vector<size_t> widths;
};

// The least important columns go first, of equally important ones the rightmost; then the widest are cut. `width` 0:
// nothing goes. `all`: no column goes, whatever that does to the lines.
Fit fit_columns(const std::vector<FitColumn>& columns, size_t width, bool all = false);

}  // namespace penna
