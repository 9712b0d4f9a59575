// SPDX-License-Identifier: MIT
// See event_costs.h.
#include "collect/event_costs.h"

#include <algorithm>

namespace penna {

EventCosts::Group EventCosts::group_of(const Record& record) {
  if (record.is_call()) return record.payload_bytes == 0 ? kShortCall : kLongCall;
  return classify(record.kind) == PENNA_ALLOC ? kAlloc : kOther;
}

void EventCosts::add(std::span<const uint8_t> chunk, const ChunkSummary& summary) {
  for (size_t i = 0; i < events_.size(); ++i) events_[i] += summary.events[i];
  if (chunks_++ < kAllOfTheFirst || chunks_ % kThenEach == 0) measure(chunk);
}

void EventCosts::measure(std::span<const uint8_t> chunk) {
  if (!gaps_) gaps_ = std::make_unique<AllGaps>();
  RecordCursor in(chunk);
  Record record;
  bool any = false;
  Group before = kOther;
  uint64_t time = 0, window_begin = 0;
  size_t in_window = 0;
  const auto put = [](Gaps& gaps, uint64_t bin) {
    ++gaps.measured;
    ++gaps.bins[std::min<uint64_t>(bin, kBins - 1)];
  };
  while (in.next(record)) {
    if (classify(record.kind) == PENNA_NO_CLASS) {  // no event: what it cost is another matter
      any = false;
      continue;
    }
    const Group group = group_of(record);
    const bool follows = any && record.time >= time;
    if (follows) {
      Gaps& gaps = (*gaps_)[before][group];
      ++gaps.count;
      if (before != kShortCall || group != kShortCall) put(gaps, (record.time - time) / kPieceTicks);
    }
    if (!follows || before != kShortCall || group != kShortCall || in_window == kWindow) {
      window_begin = record.time;
      in_window = 0;
    } else if (++in_window == kWindow) {
      put((*gaps_)[kShortCall][kShortCall], (record.time - window_begin) / kWindow);
      window_begin = record.time;
      in_window = 0;
    }
    any = true;
    before = group;
    time = record.time;
  }
}

// A quarter: fewer would be what the fastest loop of the program has, in which all branches are foreseen and all memory is near.
double EventCosts::Gaps::quarter(double width_ticks) const {
  uint64_t below = 0;
  for (size_t bin = 0; bin < kBins; ++bin) {
    below += bins[bin];
    if (below != 0 && below * 4 >= measured) return (static_cast<double>(bin) + 0.5) * width_ticks;
  }
  return 0;
}

std::array<EventCost, PENNA_CLASS_COUNT> EventCosts::costs(double ns_per_tick, double stamp_ns) const {
  // Of a record, in nanoseconds: the most that it may cost, on top of stamps; half of what is around two.
  struct Most {
    double stamps, rest;
  };
  static constexpr Most kMost[kGroups] = {{1, 12}, {8, 80}, {12, 120}, {1, 25}};
  std::array<EventCost, PENNA_CLASS_COUNT> costs;
  std::array<double, PENNA_CLASS_COUNT> ns{}, pairs{};
  static constexpr penna_event_class kClasses[kGroups] = {PENNA_CALLS, PENNA_CALLS, PENNA_ALLOC, PENNA_LOCKS};
  for (size_t from = 0; gaps_ && from < kGroups; ++from) {
    for (size_t to = 0; to < kGroups; ++to) {
      const Gaps& gaps = (*gaps_)[from][to];
      const bool is_short = from == kShortCall && to == kShortCall;
      const auto most_of = [&](size_t group) { return kMost[group].stamps * stamp_ns + kMost[group].rest; };
      const double most = (most_of(from) + most_of(to)) / 2;
      const double measured = gaps.quarter(is_short ? 1 : kPieceTicks) * ns_per_tick;
      const auto count = static_cast<double>(gaps.count);
      ns[kClasses[to]] += count * (gaps.measured == 0 ? most : std::min(measured, most));
      pairs[kClasses[to]] += count;
    }
  }
  ns[PENNA_POINTS] = ns[PENNA_LOCKS];
  pairs[PENNA_POINTS] = pairs[PENNA_LOCKS];
  for (size_t i = 0; i < costs.size(); ++i) {
    costs[i].events = events_[i];
    if (events_[i] != 0 && pairs[i] > 0) costs[i].ps = static_cast<uint64_t>(ns[i] / pairs[i] * 1000);
  }
  return costs;
}

}  // namespace penna
