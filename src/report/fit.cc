// SPDX-License-Identifier: MIT
// See fit.h.
#include "report/fit.h"

#include <algorithm>

namespace penna {
namespace {

size_t room_for(const std::vector<size_t>& widths, const std::vector<bool>& shown) {
  size_t total = 0;
  for (size_t i = 0; i < widths.size(); ++i)
    if (shown[i]) total += widths[i] + (total != 0 ? kColumnGap : 0);
  return total;
}

// What a table is about: the leftmost of the most important names, or without names the leftmost column.
size_t kept_column(const std::vector<FitColumn>& columns) {
  size_t kept = 0;
  for (size_t i = 1; i < columns.size(); ++i) {
    const FitColumn &one = columns[i], &best = columns[kept];
    if (one.is_name != best.is_name ? one.is_name : one.is_name && one.importance > best.importance) kept = i;
  }
  return kept;
}

// The column to drop next; columns.size(): none.
size_t least_column(const std::vector<FitColumn>& columns, const std::vector<bool>& shown, size_t kept) {
  size_t least = columns.size();
  for (size_t i = 0; i < columns.size(); ++i)
    if (shown[i] && i != kept && (least == columns.size() || columns[i].importance <= columns[least].importance))
      least = i;
  return least;
}

void cut_widest(const std::vector<FitColumn>& columns, size_t width, Fit& fit) {
  for (size_t total = room_for(fit.widths, fit.shown); total > width;) {
    size_t widest = columns.size();
    for (size_t i = 0; i < columns.size(); ++i)
      if (fit.shown[i] && fit.widths[i] > columns[i].least &&
          (widest == columns.size() || fit.widths[i] > fit.widths[widest]))
        widest = i;
    if (widest == columns.size()) return;
    const size_t less = std::min(total - width, fit.widths[widest] - columns[widest].least);
    fit.widths[widest] -= less;
    total -= less;
  }
}

}  // namespace

Fit fit_columns(const std::vector<FitColumn>& columns, size_t width, bool all) {
  Fit fit{std::vector<bool>(columns.size(), true), {}};
  std::vector<size_t> least;
  for (const FitColumn& column : columns) {
    fit.widths.push_back(column.width);
    least.push_back(std::min(column.width, column.least));
  }
  if (width == 0 || columns.empty()) return fit;
  const size_t kept = kept_column(columns);
  while (!all && room_for(least, fit.shown) > width) {
    const size_t next = least_column(columns, fit.shown, kept);
    if (next == columns.size()) break;
    fit.shown[next] = false;
  }
  cut_widest(columns, width, fit);
  // As the only column it gets the whole line.
  if (!all && room_for(fit.widths, fit.shown) > width && columns[kept].least < columns[kept].width)
    fit.widths[kept] = width;
  return fit;
}

}  // namespace penna
