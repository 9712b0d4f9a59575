// SPDX-License-Identifier: MIT
// The hits of one static point, one by one: a row each with typed columns, and the distribution of one numeric column.
//
// Why separate from the report, which has sums: the page links a value to its place in time.
// Invariant: rows and `rows_left_out` add up to the point's hits in the recording; so do the bins of a histogram and
// the values outside of them.
// Memory: a few times the requested rows, however many hits there are.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/events/events.h"
#include "model/names/names.h"

namespace penna {

struct PointRowsRequest {
  std::string point{};      // "provider:name": several source locations may share it
  std::string sort{};       // COLUMN[:asc|desc]; empty: by time
  size_t rows = 100;        // at least one
  std::string histogram{};  // a numeric column; empty: none
  uint64_t begin = 0;       // ticks: origin of times
};

struct NamedPoint {
  std::string name{};
  uint64_t hits = 0;
  std::vector<std::string> arguments{};
};
// The points that were hit, most hits first.
std::vector<NamedPoint> point_names(const Recording& recording, Names& names);

// JSON of a table (report_json.h). `thread_name`: by index. The error names the columns.
Result<std::string> point_rows(const Recording& recording, Names& names, const PointRowsRequest& request,
                               const std::function<std::string(uint32_t)>& thread_name);

}  // namespace penna
