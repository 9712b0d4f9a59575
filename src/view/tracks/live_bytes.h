// SPDX-License-Identifier: MIT
// LiveBytes: how many bytes of the heap are live, in a recording that is still being written.
//
// Why not Allocations: that needs the events of all threads in time order, which is known only when all have come. Here
// each thread's events come in order, but a free may come before its allocation.
// Invariant: a block counts from its allocation to its free, whichever came first; what was allocated before the
// recording is not counted. Not thread-safe.
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
  // The next line of a thread.
  void line(const TimelineLine& line, const SampleScale& scale);
  // Visits the sum after each change since the last call, in time order.
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
  uint64_t last_freed_ = 0, last_bytes_ = 0;  // address; a realloc that fails takes it back
  int64_t now_ = 0;
};

}  // namespace penna
