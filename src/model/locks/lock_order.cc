// SPDX-License-Identifier: MIT
// See lock_order.h.
#include "model/locks/lock_order.h"

#include <algorithm>

#include "model/locks/inversions.h"

namespace penna {
namespace {

void add_edge_thread(OrderEdge& edge, uint32_t thread) {
  for (uint32_t i = 0; i < edge.listed_threads; ++i)
    if (edge.threads[i] == thread) return;
  if (edge.listed_threads < OrderEdge::kMostThreads) {
    edge.threads[edge.listed_threads++] = thread;
  } else {
    edge.more_threads = true;
  }
}

}  // namespace

void LockOrder::operator()(const Event& event, const LockStep& step) {
  switch (step.read.action) {
    case LockAction::kRequested: {
      const std::vector<uint32_t>& held = held_.held_by(event.thread);
      if (std::find(held.begin(), held.end(), step.object) == held.end())
        took(event, step.object, step.read.sync == PENNA_SYNC_READ, step.read.stack);
      return;
    }
    // A wait with a request is already counted.
    case LockAction::kTaken:
    case LockAction::kWaited:
      if (step.acquired && !step.asked.is_open() && !step.read.tried)
        took(event, step.object, step.read.sync == PENNA_SYNC_READ, step.read.stack);
      return;
    case LockAction::kConditionWaited:
      if (step.acquired) took(event, step.mutex, false, step.read.stack);
      return;
    default: return;
  }
}

void LockOrder::took(const Event& event, uint32_t object, bool shared, uint32_t stack) {
  const std::vector<uint32_t>& held = held_.held_by(event.thread);
  if (held.empty() || held[0] == object || !is_lock(held_.objects()[object].sync)) return;
  for (const uint32_t outer : held) {
    if (outer == object || !is_lock(held_.objects()[outer].sync)) continue;
    add(event, held_.hold_of(event.thread, outer), outer, object, shared, stack);
  }
}

void LockOrder::begin_edge(OrderEdge& edge, uint32_t thread) {
  for (const uint32_t gate : held_.held_by(thread))
    if (gate != edge.from && gate != edge.to && held_.holds_alone(thread, gate)) edge.gates.push_back(gate);
}

void LockOrder::add(const Event& event, const LockHold& outer, uint32_t from, uint32_t to, bool shared,
                    uint32_t stack) {
  auto found = index_.find(pair_key(from, to));
  if (found == index_.end()) {
    if (edges_.size() == kMostOrders) {
      ++left_out_;
      return;
    }
    found = index_.try_emplace(pair_key(from, to), static_cast<uint32_t>(edges_.size())).first;
    OrderEdge& edge = edges_.emplace_back();
    edge.from = from;
    edge.to = to;
    edge.first_time = event.time;
    begin_edge(edge, event.thread);
  }
  OrderEdge& edge = edges_[found->second];
  ++edge.count;
  edge.modes |= static_cast<uint8_t>(1u << (2 * outer.shared + shared));
  add_edge_thread(edge, event.thread);
  if (!edge.gates.empty())
    // A lock not held this time is not a gate.
    std::erase_if(edge.gates, [&](uint32_t gate) { return !held_.holds_alone(event.thread, gate); });
  const auto known = [](uint32_t a, uint32_t b) { return (a != 0) + (b != 0); };
  // Shows the first occurrence with the most information: one with both stacks is worth more than an earlier one.
  if (edge.count != 1 && known(outer.stack, stack) <= known(edge.from_stack, edge.to_stack)) return;
  edge.thread = event.thread;
  edge.from_stack = outer.stack;
  edge.to_stack = stack;
  edge.from_time = outer.since;
  edge.to_time = event.time;
}

void LockOrder::finish() {
  InversionFinder finder(held_, edges_);
  inversions_ = finder.find();
  gated_ = finder.gated();
  of_readers_ = finder.of_readers();
  is_cut_ = finder.is_cut();
}

uint64_t LockOrder::possible_deadlocks() const {
  return static_cast<uint64_t>(
      std::count_if(inversions_.begin(), inversions_.end(), [](const Inversion& one) { return !one.one_thread; }));
}

}  // namespace penna
