// SPDX-License-Identifier: MIT
// Live memory over time, by allocating function: the stacked curves of the page.
//
// Invariant: a step shows the moment of its most live bytes, so that no peak is missed; at that moment all series add
// up to that number, to the byte.
// Memory: kMostCells numbers, and that of Allocations.
#pragma once

#include <cstdint>
#include <string>

#include "model/events/events.h"
#include "model/names/names.h"
#include "view/tracks/track_answers.h"

namespace penna {

struct LiveHeapRequest {
  PixelView view{};       // a pixel is a step; there may be fewer
  size_t series = 10;     // those with most bytes over that time; all others together form one more
  bool by_stack = false;  // else by the function held responsible for the allocation
  uint64_t begin = 0;     // ticks: origin of times
};
constexpr size_t kMostLiveCells = 4'000'000;

// Columns (docs/view-protocol.md). `recording`: from its beginning to at least the view's end.
std::string live_heap(const Recording& recording, Names& names, const LiveHeapRequest& request);

}  // namespace penna
