// SPDX-License-Identifier: MIT
// MappedRanges: which ranges of a process's memory are mapped, by what was mapped and unmapped of it.
//
// Why: ranges are unmapped in other pieces than they were mapped, and mapped over one another; who counts blocks needs
// to know which of them an unmapping meets, and what it leaves of them.
// Invariant: ranges never overlap and are never empty. Memory: O(ranges).
#pragma once

#include <cstdint>
#include <map>

namespace penna {

// What is taken out of a range that was live.
struct MappedPart {
  // The whole range, [first, end), and what is taken of it: what is left begins at `first` or at `taken_end`, or both.
  uint64_t first = 0, end = 0, taken = 0, taken_end = 0;
  uint16_t flags = 0;    // as it was mapped
  bool was_cut = false;  // the range itself is what was left of a larger one
  bool is_whole() const { return taken == first && taken_end == end; }
};

class MappedRanges {
 public:
  // The end of a range; one that goes round the end of the address space ends there.
  static uint64_t end_of(uint64_t begin, uint64_t bytes) {
    return bytes > UINT64_MAX - begin ? UINT64_MAX : begin + bytes;
  }

  // Nothing of it may be live: take() it first. An empty range is none.
  void add(uint64_t begin, uint64_t end, uint16_t flags) { insert(begin, {end, flags, false}); }
  // Takes [begin, end) out of what is live: on_part(const MappedPart&) for each range that lost something, in order of
  // addresses.
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
  std::map<uint64_t, Range> ranges_;  // by where they begin
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
