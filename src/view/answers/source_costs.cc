// SPDX-License-Identifier: MIT
// See source_costs.h.
#include "view/answers/source_costs.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "model/blocks/allocations.h"
#include "model/calls/calls.h"
#include "model/locks/wait_rows.h"
#include "view/answers/point_hits.h"

namespace penna {

void LineCost::add(const LineCost& other) {
  calls += other.calls, total_ns += other.total_ns, self_ns += other.self_ns;
  bytes += other.bytes, allocations += other.allocations, live_bytes += other.live_bytes;
  waits += other.waits, wait_ns += other.wait_ns;
  hits += other.hits;
}

bool LineCost::is_more_than(const LineCost& other) const {
  const auto key = [](const LineCost& cost) {
    return std::tuple(cost.self_ns + cost.wait_ns, cost.bytes, cost.calls + cost.allocations + cost.waits + cost.hits);
  };
  return key(*this) > key(other);
}

SourceCosts::SourceCosts(const Recording& recording, Names& names) {
  add_calls(recording, names);
  add_allocations(recording, names);
  add_waits(recording, names);
  add_points(recording, names);
}

void SourceCosts::add_calls(const Recording& recording, Names& names) {
  Calls calls(recording, names.map());
  (void)for_each_thread_event(recording, {.classes = kCallEvents}, calls);
  calls.finish();
  const double ns_per_tick = recording.time().ns_per_tick();
  const auto ns = [&](uint64_t ticks) {
    return static_cast<uint64_t>(std::llround(static_cast<double>(ticks) * ns_per_tick));
  };
  for (const FunctionCalls* one : calls.by_total()) {
    const NameFrame& frame = names.at(calls.functions().place(one->function)).back();
    if (frame.file.empty() || frame.line == 0) continue;
    LineCost& line = files_[frame.file][frame.line];
    line.calls += one->calls;
    line.total_ns += ns(one->total);
    line.self_ns += ns(one->self);
  }
}

// Recursion and inlining put a line into a stack more than once.
void SourceCosts::add_stack(Names& names, uint32_t process, uint32_t stack, const LineCost& cost) {
  std::vector<LineCost*> seen;
  for (const NameFrame* frame : names.stack(process, stack).frames) {
    if (frame->file.empty() || frame->line == 0) continue;
    LineCost* const line = &files_[frame->file][frame->line];
    if (std::find(seen.begin(), seen.end(), line) != seen.end()) continue;
    line->add(cost);
    seen.push_back(line);
  }
}

void SourceCosts::add_allocations(const Recording& recording, Names& names) {
  Allocations heap(recording);
  (void)for_each_event(recording, {.classes = kAllocEvents, .all_threads = true},
                       [&](const Event& event) { heap(event); });
  heap.finish();
  for (const StackAllocations& one : heap.stacks()) {
    LineCost cost;
    cost.bytes = one.bytes, cost.allocations = one.allocations, cost.live_bytes = one.live_bytes;
    add_stack(names, one.process, one.stack, cost);
  }
}

// Summed by stack first: there may be many waits.
void SourceCosts::add_waits(const Recording& recording, Names& names) {
  std::map<std::pair<uint32_t, uint32_t>, LineCost> by_stack;
  (void)for_each_wait(recording, {.follow_memory = false}, [&](const WaitRow& wait) {
    LineCost& cost = by_stack[{wait.process, wait.stack}];
    ++cost.waits;
    cost.wait_ns += static_cast<uint64_t>(std::max<int64_t>(recording.time().duration_ns(wait.begin, wait.end), 0));
    return true;
  });
  for (const auto& [key, cost] : by_stack) add_stack(names, key.first, key.second, cost);
}

void SourceCosts::add_points(const Recording& recording, Names& names) {
  for_each_hit(recording, names, [&](const Site* site, const Event&) {
    if (site != nullptr && !site->file.empty() && site->line != 0) ++files_[site->file][site->line].hits;
  });
}

}  // namespace penna
