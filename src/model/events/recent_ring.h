// SPDX-License-Identifier: MIT
// RecentRing: the last items added, as many as its user has needed so far.
//
// Why: who held a lock during a wait is looked up when the wait is over, for few locks, and mostly few holds back.
// Invariant: empty until begin(); from then on it holds the last items added, up to the size that it has grown to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace penna {

template <typename T>
class RecentRing {
 public:
  size_t size() const { return ring_.size(); }
  bool is_full() const { return ring_.size() == most_; }
  const T& operator[](size_t i) const { return ring_[(next_ + i) % ring_.size()]; }  // oldest first

  // Starts recording; `first`: the last item so far. Does nothing if already started.
  void begin(const T& first) {
    if (ring_.empty()) ring_.push_back(first);
  }
  void add(const T& one) {
    if (ring_.empty()) return;
    if (!is_full()) return ring_.push_back(one);
    ring_[next_] = one;
    next_ = (next_ + 1) % most_;
  }
  // It did not reach back far enough.
  void grow() {
    if (most_ == kMost) return;
    std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(next_), ring_.end());
    next_ = 0;
    most_ *= 2;
  }

 private:
  static constexpr size_t kLeast = 16, kMost = 1024;
  std::vector<T> ring_;
  size_t most_ = kLeast;
  size_t next_ = 0;  // where the next one goes once it is full; there is the oldest
};

}  // namespace penna
