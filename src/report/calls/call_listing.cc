// SPDX-License-Identifier: MIT
// See call_listing.h.
#include "report/calls/call_listing.h"

#include <cstddef>
#include <utility>

namespace penna {
namespace {

// The finalizer of splitmix64 (Steele, Lea, Flood, OOPSLA 2014): each bit of the result depends on all of `value`.
uint64_t mixed(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

}  // namespace

// Two hashes with different constants. The order of the inner calls matters, so the sum so far is multiplied.
void CallListing::Shape::add(const Shape& inner) {
  high = mixed(high * 3 + inner.high + 0x9e3779b97f4a7c15);
  low = mixed(low * 5 + inner.low + 0xd1b54a32d192ed03);
}

CallListing::CallListing(bool folded, OnLine on_line) : folded_(folded), on_line_(std::move(on_line)), open_(1) {}

// A line is printed at once unless a call around it may turn out to equal the one before.
bool CallListing::put(const ListedCall& line) {
  if (candidates_.empty()) return on_line_(line);
  held_.push_back(line);
  return held_.size() <= kMaxHeld || give_up();
}

bool CallListing::flush() {
  for (const ListedCall& line : held_)
    if (!on_line_(line)) return false;
  held_.clear();
  return true;
}

// Shows what is held back as it is. A counted run before a candidate ends there, so its total must come before the
// candidate's lines.
bool CallListing::give_up() {
  for (; !candidates_.empty(); candidates_.pop_back()) {
    const Candidate& held = candidates_.back();
    Open& around = open_[held.depth];
    if (around.run > 1)
      held_.insert(held_.begin() + static_cast<ptrdiff_t>(held.begin),
                   {static_cast<uint32_t>(held.depth), around.last, around.run});
    around.run = 0;
    around.has_last = false;
  }
  return flush();
}

bool CallListing::end_run(const Open& open, size_t depth) {
  return open.run <= 1 || put({static_cast<uint32_t>(depth), open.last, open.run});
}

// A call of the same function as the one before may be equal: its lines are held back until it ends. Any other call
// ends the preceding run.
bool CallListing::enter(uint32_t function) {
  const size_t depth = open_.size() - 1;
  Open& around = open_.back();
  if (folded_ && around.has_last && around.last == function) {
    candidates_.push_back({depth, held_.size()});
  } else {
    if (!end_run(around, depth)) return false;
    around.has_last = false;
    around.run = 0;
  }
  Open inner;
  inner.function = function;
  inner.shape.add({function, function});
  open_.push_back(inner);
  return put({static_cast<uint32_t>(depth), function, 0});
}

bool CallListing::leave() {
  if (open_.size() == 1) return true;
  if (!end_run(open_.back(), open_.size() - 1)) return false;
  const Open ended = open_.back();
  open_.pop_back();
  const size_t depth = open_.size() - 1;
  Open& around = open_.back();
  around.shape.add(ended.shape);
  const bool is_candidate = !candidates_.empty() && candidates_.back().depth == depth;
  // Now it is known whether the call was equal. If so, its lines are dropped, and the run is one longer; if not, the
  // total of the run goes before them.
  if (is_candidate) {
    const Candidate held = candidates_.back();
    candidates_.pop_back();
    if (around.last_shape == ended.shape) {
      held_.resize(held.begin);
      ++around.run;
      return !candidates_.empty() || flush();
    }
    if (around.run > 1)
      held_.insert(held_.begin() + static_cast<ptrdiff_t>(held.begin),
                   {static_cast<uint32_t>(depth), around.last, around.run});
  }
  around.has_last = folded_;
  around.last = ended.function;
  around.last_shape = ended.shape;
  around.run = 1;
  return !candidates_.empty() || flush();
}

// Open calls end here without a comparison: what else they would have called is unknown.
bool CallListing::finish() {
  if (!give_up()) return false;
  for (size_t depth = open_.size(); depth-- > 0;)
    if (!end_run(open_[depth], depth)) return false;
  open_.assign(1, {});
  return true;
}

}  // namespace penna
