// SPDX-License-Identifier: MIT
// The critical path of a thread, piece by piece in the order of time, for who draws it through the threads.
//
// Invariant: the pieces follow one another without gaps, and with `left_out` they are as long as the path.
// Errors: none. Without locks the path is the thread itself.
#pragma once

#include <cstdint>
#include <string>

#include "model/events/events.h"
#include "model/events/summary.h"

namespace penna {

constexpr size_t kMostPathPieces = 20'000;  // the last ones

// Columns (docs/view-protocol.md). `recording`: the whole. `all`: of it. Of the thread's time in [from, to), in ticks.
std::string path_answer(const Recording& recording, const Summary& all, uint32_t thread, uint64_t from, uint64_t to);

}  // namespace penna
