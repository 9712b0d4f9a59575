// SPDX-License-Identifier: MIT
// Mappings: what was mapped where by mmap, mremap, brk and their kin, and what of it is still there.
//
// Why apart from Allocations: ranges are unmapped in other pieces than they were mapped, and mapped over one another; and an allocator
// makes its blocks of mappings, so the two must never be added up.
// Usage:  Mappings maps(recording); for_each_event(recording, {.classes = kAllocEvents}, maps);
// Events must come merged in time order. Invariant: in each process live ranges never overlap, and mapped = live + unmapped + replaced,
// in bytes.
// Memory: O(live ranges + stacks).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "model/events.h"
#include "model/hash.h"

namespace penna {

// Of one stack of one process.
struct StackMappings {
  uint32_t process = 0;
  uint32_t stack = 0;  // 0 = unknown
  uint64_t maps = 0, bytes = 0;
  uint64_t live_bytes = 0;  // now
};

struct MappingTotals {
  uint64_t maps = 0, unmaps = 0;  // events
  uint64_t bytes = 0;             // mapped, over all events
  uint64_t unmapped = 0;          // bytes of it that were unmapped again
  uint64_t replaced = 0;          // bytes of it that others were mapped over
  uint64_t unknown = 0;  // bytes unmapped that were nobody's here: libc's, the parent's, or mapped before the recording
  uint64_t live_bytes = 0, peak_bytes = 0, peak_time = 0;  // peak: the first such moment
};

struct LiveMapping {
  uint64_t end = 0;             // address
  uint64_t time = 0;            // ticks, when it was mapped
  uint32_t slot = 0;            // of its stack, in stacks()
  uint16_t how = 0, flags = 0;  // penna_map_how, penna_map_flag
};

class Mappings {
 public:
  explicit Mappings(const Recording& recording);

  void operator()(const Event& event);

  std::span<const MappingTotals> processes() const { return totals_; }  // by process index
  std::span<const StackMappings> stacks() const { return stacks_; }     // in order of first appearance
  // Live ranges of a process, by their first address.
  const std::map<uint64_t, LiveMapping>& live(uint32_t process) const { return live_[process]; }

 private:
  void mapped(const Event& event, const penna_map& map);
  // Takes [begin, end) out of what is live; gives how many bytes of it were.
  uint64_t cut(uint32_t process, uint64_t begin, uint64_t end);
  uint32_t slot_of(uint32_t process, uint32_t stack);

  std::vector<std::map<uint64_t, LiveMapping>> live_;  // by process
  std::vector<MappingTotals> totals_;
  std::vector<StackMappings> stacks_;
  NumberMap<uint32_t> slots_;  // process, stack -> slot
};

}  // namespace penna
