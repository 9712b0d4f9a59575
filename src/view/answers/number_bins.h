// SPDX-License-Identifier: MIT
// Bins: the distribution of numbers in at most 40 bars, for the page's histograms.
//
// Numbers that span more than three decades get bars that grow by a factor, integers bars that are whole.
// Invariant: every number that was added is in one bar, or among the others.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/whole_number.h"
#include "export/text/json_writer.h"
#include "report/table.h"

namespace penna {

// Of a cell in a column of numbers: text is the digits of one beyond int64_t. NaN: there is none.
inline double number_in(const Cell& cell) {
  if (const auto* whole = std::get_if<int64_t>(&cell)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  const auto* digits = std::get_if<std::string>(&cell);
  const auto large = digits != nullptr ? whole_number<uint64_t>(*digits) : std::nullopt;
  return large ? static_cast<double>(*large) : std::numeric_limits<double>::quiet_NaN();
}

// The range of the numbers of a column.
struct NumberShape {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  bool is_whole = true;

  void see(const Cell& cell) {
    const double number = number_in(cell);
    is_whole &= !std::holds_alternative<double>(cell);
    if (!std::isfinite(number)) return;
    least = std::min(least, number);
    most = std::max(most, number);
  }
};

class Bins {
 public:
  static constexpr size_t kMost = 40;

  explicit Bins(const NumberShape& shape) {
    if (!(shape.least <= shape.most)) return;
    constexpr double kWide = 1000;  // times: each bin is then wider than the one before by the same factor
    is_by_factor_ = shape.least > 0 && shape.most / shape.least >= kWide;
    low_ = by(shape.least);
    most_ = shape.most;
    double width = (by(shape.most) - low_) / kMost;
    if (shape.is_whole && !is_by_factor_) width = std::max(1.0, std::ceil((shape.most - shape.least + 1) / kMost));
    if (!(width > 0)) width = 1;
    const double bins = std::floor((by(shape.most) - low_) / width) + 1;
    width_ = width;
    counts_.resize(static_cast<size_t>(std::clamp(bins, 1.0, static_cast<double>(kMost))));
  }

  void add(const Cell& cell) {
    const double number = number_in(cell);
    if (counts_.empty() || !std::isfinite(number)) return void(++others_);
    const double bin = std::floor((by(number) - low_) / width_);
    ++counts_[static_cast<size_t>(std::clamp(bin, 0.0, static_cast<double>(counts_.size() - 1)))];
  }

  void write(JsonWriter& json, const std::string& column) const {
    json.key("histogram");
    json.begin_object();
    json.field("column", column);
    json.key("edges");  // one more than bins
    json.begin_array();
    for (size_t i = 0; i <= counts_.size() && !counts_.empty(); ++i) json.value(edge(i));
    json.end_array();
    json.key("counts");
    json.begin_array();
    for (const uint64_t count : counts_) json.value(count);
    json.end_array();
    json.field("others", others_);
    json.end_object();
  }

 private:
  double by(double value) const { return is_by_factor_ ? std::log(value) : value; }
  double edge(size_t at) const {
    const double step = low_ + static_cast<double>(at) * width_, value = is_by_factor_ ? std::exp(step) : step;
    return at == counts_.size() ? std::max(value, most_) : value;  // whatever the rounding, the last bar includes it
  }

  bool is_by_factor_ = false;
  double low_ = 0, width_ = 1, most_ = 0;
  std::vector<uint64_t> counts_;
  uint64_t others_ = 0;  // not a number, not finite, or missing
};

}  // namespace penna
