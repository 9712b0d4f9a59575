// SPDX-License-Identifier: MIT
// CallParts: the threads of a recording, split into parts that several processors read at the same time.
//
// Why: what calls there were can be looked at thread by thread, and sums of parts are sums.
// Invariant: parts are made and merged in the order of the threads, so that the result is that of one walk, whatever
// the number of processors.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/events/events.h"

namespace penna {

// Threads (indices), [begin, end).
struct ThreadRange {
  uint32_t begin = 0, end = 0;
  uint64_t bytes = 0;  // as stored: how much work there is
};

// Parts for each processor: so that all are busy until the end.
inline constexpr size_t kPartsOfEach = 8;

// At most `most` ranges of about equal size that contain all threads, in order; a long thread has one of its own.
std::vector<ThreadRange> split_threads(const Recording& recording, size_t most);

// Calls read(part) for each part, on as many processors as are free, largest first; and, on this thread, done(parts),
// the number of parts that have ended.
void read_parts(const std::vector<ThreadRange>& parts, size_t processors, const std::function<void(size_t)>& read,
                const std::function<void(size_t)>& done);

}  // namespace penna
