// SPDX-License-Identifier: MIT
// The hits of one static point, one by one: a row each with typed columns, and how one column of numbers is spread.
//
// Why apart from the report, which has sums: the page leads from a value to its place in time.
// Invariant: rows, `rows_left_out` of them, add up to the hits of that point in the recording; so do the bins of a
// histogram and what is not in any of them.
// Memory: some times the rows that are asked for, however many hits there are.
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
  std::string point{};      // "provider:name": several places in the source may have it
  std::string sort{};       // COLUMN[:asc|desc]; empty: by time
  size_t rows = 100;        // at least one
  std::string histogram{};  // a column of numbers; empty: none
  uint64_t begin = 0;       // ticks: times are since then
};

struct NamedPoint {
  std::string name{};
  uint64_t hits = 0;
  std::vector<std::string> arguments{};
};
// Those that were hit, most hits first.
std::vector<NamedPoint> point_names(const Recording& recording, Names& names);

// JSON as of a table (report_json.h). `thread_name`: of an index. The error names the columns.
Result<std::string> point_rows(const Recording& recording, Names& names, const PointRowsRequest& request,
                               const std::function<std::string(uint32_t)>& thread_name);

}  // namespace penna
