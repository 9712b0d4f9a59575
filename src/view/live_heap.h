// SPDX-License-Identifier: MIT
// What was live over time, by who allocated it: the stacked curves of the page.
//
// Invariant: a step is shown as it was at the moment of its most live bytes, so that no peak is missed; what all series
// have then adds up to that number, to the byte.
// Memory: kMostCells numbers, and that of Allocations.
#pragma once

#include <cstdint>
#include <string>

#include "model/events/events.h"
#include "model/names/names.h"
#include "view/track_answers.h"

namespace penna {

struct LiveHeapRequest {
  PixelView view{};       // a pixel is a step; there may be fewer
  size_t series = 10;     // those with most bytes over that time; all others together are one more
  bool by_stack = false;  // else by the function that is said to have allocated
  uint64_t begin = 0;     // ticks: times are since then
};
constexpr size_t kMostLiveCells = 4'000'000;

// Columns (docs/view-protocol.md). `recording`: from its beginning up to the view's end at least.
std::string live_heap(const Recording& recording, Names& names, const LiveHeapRequest& request);

}  // namespace penna
