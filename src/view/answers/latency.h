// SPDX-License-Identifier: MIT
// The time from one point to another: a row for each hit of the second with the hit of the first that has the
// same key, in whatever threads they are; and how these times are distributed.
//
// The key is an argument of each point, compared as it is shown; without arguments it is the thread. A hit of the
// second belongs to the last hit of the first with its key, which then is used up: a hit is in at most one row.
// Invariant: rows, rows left out and what the tail counts as unmatched add up to the hits of both points.
// Memory: a few times the requested rows, and the hits of the first point that wait for one of the second, at most
// kMostOpen.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "model/names/names.h"

namespace penna {

struct LatencyRequest {
  static constexpr size_t kMostOpen = 1'000'000;
  std::string from{}, to{};          // "provider:name"
  std::string from_key{}, to_key{};  // arguments; both empty: the thread
  std::string sort{};                // COLUMN[:asc|desc]; empty: the longest first
  size_t rows = 100;                 // at least one
  uint64_t begin = 0;                // ticks: origin of times
};

// JSON of a table with a histogram, as point_rows() gives; the row's thread is that of the first hit.
Result<std::string> latency_rows(const Recording& recording, Names& names, const LatencyRequest& request,
                                 const std::function<std::string(uint32_t)>& thread_name);

}  // namespace penna
