// SPDX-License-Identifier: MIT
// LiveBytes: how many bytes of the heap are live, of a recording that is still written.
//
// Why not Allocations: that takes the events of all threads in the order of time, which is known when all have come.
// Here those of a thread come in their order, and a free may come before its allocation.
// Invariant: a block counts from its allocation to its free, whichever came first; what was allocated before the
// recording counts nowhere. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/hash.h"
#include "model/events/sampling.h"
#include "model/timeline/timeline.h"

namespace penna {

class LiveBytes {
 public:
  // Of a thread, in its order.
  void line(const TimelineLine& line, const SampleScale& scale);
  // The sum after each change since the last time, in the order of time.
  void changes(const std::function<void(uint64_t ticks, uint64_t bytes)>& visit);

 private:
  struct Block {
    uint64_t time = 0;
    uint64_t bytes = 0;
    bool freed = false;  // the free came first, at `time`
  };
  struct Change {
    uint64_t time;
    int64_t bytes;
  };
  void allocate(NumberMap<Block>& blocks, uint64_t address, uint64_t time, uint64_t bytes);
  void free(NumberMap<Block>& blocks, uint64_t address, uint64_t time);

  std::vector<NumberMap<Block>> blocks_;  // by process, address
  std::vector<Change> changes_;
  uint64_t last_freed_ = 0, last_bytes_ = 0;  // address; taken back by a realloc that fails
  int64_t now_ = 0;
};

}  // namespace penna
