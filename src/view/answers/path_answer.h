// SPDX-License-Identifier: MIT
// A thread's critical path, piece by piece in order of time, for drawing it across the threads.
//
// Invariant: the pieces follow one another without gaps, and with `left_out` they are as long as the path. Errors:
// none. Without locks the path is the thread itself.
#pragma once

#include <cstdint>
#include <string>

#include "model/events/events.h"
#include "model/events/summary.h"

namespace penna {

constexpr size_t kMostPathPieces = 20'000;  // the last ones

// Columns (docs/view-protocol.md). `recording`: the whole one, summarized by `all`. For the thread's time in [from,
// to), in ticks.
std::string path_answer(const Recording& recording, const Summary& all, uint32_t thread, uint64_t from, uint64_t to);

}  // namespace penna
