// SPDX-License-Identifier: MIT
// LockOrder: in which order threads take locks, and where the orders contradict each other.
//
// Why: two threads that take two locks in both orders need not meet today; the day they do, both wait forever. The
// order is enough to show it (lock graphs with gate locks: Havelund, SPIN 2000).
// Usage:  const LockStep step = held.take(event); order(event, step); ... order.finish();
// Mutexes, rwlocks and spinlocks count. A trylock never waits: taking B with trylock makes no order, having taken A
// with it does.
// Invariant: an order A, B is counted once for each time that B was requested or taken while its thread held A.
// Memory: O(locks + kMostOrders). finish(): bounded work, is_cut() if that did not suffice.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/locks/holder_tracker.h"

namespace penna {

// B requested while A was held.
struct OrderEdge {
  static constexpr size_t kMostThreads = 4;
  uint32_t from = 0, to = 0;  // objects of HolderTracker
  uint64_t count = 0;
  uint64_t first_time = 0;
  // The first occurrence about which the most is known; stacks: 0 = unknown.
  uint32_t thread = 0;
  uint32_t from_stack = 0, to_stack = 0;
  uint64_t from_time = 0, to_time = 0;
  // Distinct threads; there may be more than are listed.
  std::array<uint32_t, kMostThreads> threads{};
  uint32_t listed_threads = 0;
  bool more_threads = false;
  // Bit 2 * (A was held shared) + (B was requested shared): of readers and writers.
  uint8_t modes = 0;
  std::vector<uint32_t> gates;  // held exclusively besides A every time, at most kMostHeld
};

// A cycle of edges: each one's `to` is the next one's `from`.
struct Inversion {
  std::vector<uint32_t> edges;
  bool one_thread = false;  // so far there are too few threads for a deadlock
  uint64_t alike = 0;       // further cycles of other locks with the same stacks: not listed
};

class LockOrder {
 public:
  static constexpr size_t kMostOrders = 1 << 18, kMostInversions = 1000;

  explicit LockOrder(const HolderTracker& held) : held_(held) {}

  void operator()(const Event& event, const LockStep& step);
  void finish();

  const HolderTracker& held() const { return held_; }
  const std::vector<OrderEdge>& edges() const { return edges_; }            // in order of first occurrence
  const std::vector<Inversion>& inversions() const { return inversions_; }  // by several threads first, then short ones
  uint64_t possible_deadlocks() const;                                      // by several threads
  uint64_t gated() const { return gated_; }            // cycles inside a lock that is always held around them
  uint64_t of_readers() const { return of_readers_; }  // cycles in which no thread would wait
  uint64_t left_out() const { return left_out_; }      // occurrences ignored because of kMostOrders
  bool is_cut() const { return is_cut_; }              // there may be more cycles of three or more

 private:
  void took(const Event& event, uint32_t object, bool shared, uint32_t stack);
  void add(const Event& event, const LockHold& outer, uint32_t from, uint32_t to, bool shared, uint32_t stack);
  void begin_edge(OrderEdge& edge, uint32_t thread);

  const HolderTracker& held_;
  NumberMap<uint32_t> index_;  // from, to
  std::vector<OrderEdge> edges_;
  std::vector<Inversion> inversions_;
  uint64_t gated_ = 0, of_readers_ = 0, left_out_ = 0;
  bool is_cut_ = false;
};

}  // namespace penna
