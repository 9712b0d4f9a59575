// SPDX-License-Identifier: MIT
// IntervalMap: which of many, possibly nested, address intervals is the innermost at an address.
//
// Why: symbols nest and overlap (aliases, assembler entry points), and so do the ranges of compile units and functions.
// They are flattened once, so that a look-up is one binary search.
// Invariant: after finish(), cuts_ is sorted by address, without duplicates, and each cut holds until the next one.
#pragma once

#include <cstdint>
#include <vector>

namespace penna {

class IntervalMap {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // An interval [begin, end) with the caller's value (not kNone). Empty intervals are ignored.
  void add(uint64_t begin, uint64_t end, uint32_t value);
  // Sorts and flattens: O(n log n). Where intervals overlap, the one that begins later wins, then the shorter, then the
  // one with the larger value.
  void finish();
  // After finish(): the innermost value at the address, or kNone. O(log n).
  uint32_t find(uint64_t address) const;
  bool empty() const { return cuts_.empty(); }

 private:
  struct Interval {
    uint64_t begin, end;
    uint32_t value;
  };
  struct Cut {
    uint64_t begin;
    uint32_t value;
  };
  void cut(uint64_t begin, uint32_t value);

  std::vector<Interval> intervals_;  // until finish()
  std::vector<Cut> cuts_;
};

}  // namespace penna
