// SPDX-License-Identifier: MIT
// MappedRanges: which ranges of a process's memory are mapped, according to its mappings and unmappings.
//
// Why: ranges are unmapped in other pieces than they were mapped, and mapped over one another; counting blocks requires
// knowing which of them an unmapping hits, and what it leaves of them.
// Invariant: ranges never overlap and are never empty. Memory: O(ranges).
#pragma once

#include <cstdint>
#include <map>

namespace penna {

// What is taken from a live range.
struct MappedPart {
  // The whole range, [first, end), and the part taken from it: what is left begins at `first` or at `taken_end`, or
  // both.
  uint64_t first = 0, end = 0, taken = 0, taken_end = 0;
  uint16_t flags = 0;    // from its mapping
  bool was_cut = false;  // the range itself is the remainder of a larger one
  bool is_whole() const { return taken == first && taken_end == end; }
};

class MappedRanges {
 public:
  // The end of a range; one that wraps around the address space ends at its end.
  static uint64_t end_of(uint64_t begin, uint64_t bytes) {
    return bytes > UINT64_MAX - begin ? UINT64_MAX : begin + bytes;
  }

  // Nothing in the range may be live: take() it first. An empty range is ignored.
  void add(uint64_t begin, uint64_t end, uint16_t flags) { insert(begin, {end, flags, false}); }
  // Removes [begin, end) from what is live: on_part(const MappedPart&) for each range that lost something, in address
  // order.
  template <typename OnPart>
  void take(uint64_t begin, uint64_t end, OnPart&& on_part);

 private:
  struct Range {
    uint64_t end;
    uint16_t flags;
    bool was_cut;
  };
  void insert(uint64_t begin, const Range& range) {
    if (begin < range.end) ranges_[begin] = range;
  }
  std::map<uint64_t, Range> ranges_;  // by their beginning
};

template <typename OnPart>
void MappedRanges::take(uint64_t begin, uint64_t end, OnPart&& on_part) {
  auto at = ranges_.upper_bound(begin);
  if (at != ranges_.begin() && std::prev(at)->second.end > begin) --at;
  while (at != ranges_.end() && at->first < end) {
    MappedPart part;
    part.first = at->first;
    part.end = at->second.end;
    part.flags = at->second.flags;
    part.was_cut = at->second.was_cut;
    part.taken = part.first < begin ? begin : part.first;
    part.taken_end = part.end < end ? part.end : end;
    at = ranges_.erase(at);
    insert(part.first, {part.taken, part.flags, true});
    insert(part.taken_end, {part.end, part.flags, true});
    on_part(static_cast<const MappedPart&>(part));
  }
}

}  // namespace penna
