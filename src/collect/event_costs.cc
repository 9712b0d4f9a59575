// SPDX-License-Identifier: MIT
// See event_costs.h.
#include "collect/event_costs.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace penna {
namespace {

// Pseudo tags, besides the pairs of tags 0 to 3 of two short calls: a gap after the first record of a page, where the
// kernel maps the page if the chunk is new; and a gap after any other record, for comparison.
constexpr uint8_t kFromPage = 4, kFromElsewhere = 5;
constexpr size_t kBytesOfPage = 4096, kMostPageTicks = 1 << 15;

}  // namespace

EventCosts::Group EventCosts::group_of(const Record& record) {
  if (record.is_call()) return record.payload_bytes == 0 ? kShortCall : kLongCall;
  return classify(record.kind) == PENNA_ALLOC ? kAlloc : kOther;
}

void EventCosts::add(std::span<const uint8_t> chunk, const ChunkSummary& summary) {
  for (size_t i = 0; i < events_.size(); ++i) events_[i] += summary.events[i];
  if (const uint64_t weight = weight_of(chunks_++); weight != 0) measure(chunk, weight);
}

// How many chunks this one stands for; 0: it is not examined. Chosen by the golden ratio, so that no periodic program
// always shows the same chunks.
uint64_t EventCosts::weight_of(uint64_t chunk) {
  constexpr uint64_t kEach = 32, kFourth = 256;
  const uint64_t weight = chunk < kEach ? 1 : chunk < kFourth ? 4 : 16;
  // Multiples of 2^64 / phi are spread evenly over 64 bits, whatever their number: one in `weight` is below 2^64 /
  // weight.
  return chunk * 0x9e3779b97f4a7c15 <= UINT64_MAX / weight ? weight : 0;
}

void EventCosts::measure(std::span<const uint8_t> chunk, uint64_t weight) {
  if (!gaps_) gaps_ = std::make_unique<AllGaps>();
  RecordCursor in(chunk);
  Record before, record;
  bool any = false;
  size_t begin_before = 0, begin = in.position();
  const auto add = [&](uint8_t tags, uint64_t ticks) {
    if (ticks >= kMostPageTicks) return;
    Place& place = places_.try_emplace(tags, Place{tags}).first->second;
    place.count += weight;
    place.ticks += ticks * weight;
  };
  while (in.next(record)) {
    begin_before = std::exchange(begin, in.position() - sizeof(uint64_t) - record.payload_bytes);
    if (classify(record.kind) == PENNA_NO_CLASS) {  // not an event: its cost does not count here
      any = false;
      continue;
    }
    // Times may go back around signal handlers (event.h): such pairs carry no information.
    if (any && record.time >= before.time) {
      const Group from = group_of(before), to = group_of(record);
      Gaps& gaps = (*gaps_)[from][to];
      gaps.count += weight;
      if (from == kShortCall && to == kShortCall) {
        const bool is_page = begin_before % kBytesOfPage == 0;
        add(is_page ? kFromPage : kFromElsewhere, record.time - before.time);
        if (!is_page) measure_short(before, record, weight);
      } else {
        gaps.bins[std::min<uint64_t>((record.time - before.time) / kPieceTicks, kBins - 1)] += weight;
      }
    }
    any = true;
    before = record;
  }
}

void EventCosts::measure_short(const Record& from, const Record& to, uint64_t weight) {
  const uint64_t ticks = to.time - from.time;
  if (ticks >= kLongestTicks) return;  // an interrupt, or the program's own work
  const auto tags = static_cast<uint8_t>((from.kind == PENNA_KIND_CALL_ENTRY) * 2 + (to.kind == PENNA_KIND_CALL_ENTRY));
  // Both places, mixed into one key; the lowest three bits are the tags. A collision averages two pairs of places.
  const uint64_t places = (from.pc * 0x9e3779b97f4a7c15 ^ std::rotl(to.pc * 0xc2b2ae3d27d4eb4f, 31)) << 3 | tags;
  auto at = places_.find(places);
  if (at == places_.end()) {
    if (places_.size() >= kMostPlaces) return;
    at = places_.emplace(places, Place{tags}).first;
  }
  at->second.count += weight;
  at->second.ticks += ticks * weight;
}

// The lower quartile: anything lower would be the fastest loop of the program, with all branches predicted and all
// memory in the cache.
double EventCosts::Gaps::quarter_ticks() const {
  uint64_t below = 0;
  for (size_t bin = 0; bin < kBins; ++bin) {
    below += bins[bin];
    if (below != 0 && below * 4 >= count) return (static_cast<double>(bin) + 0.5) * kPieceTicks;
  }
  return 0;
}

// Each kind of gap separately, because more happens before the timestamp of an entry than of an exit. Averages of
// places with few gaps are due to chance.
double EventCosts::short_call_ticks(double most_ticks) const {
  constexpr uint64_t kEnough = 32;
  constexpr double kNear = 1.5;
  struct Kind {
    double least, near_ticks = 0, near_count = 0;
    uint64_t count = 0;
  };
  std::array<Kind, 4> kinds;
  kinds.fill({most_ticks});
  for (const auto& [key, place] : places_)
    if (place.tags < kinds.size() && place.count >= kEnough)
      kinds[place.tags].least = std::min(kinds[place.tags].least, place.mean());
  for (const auto& [key, place] : places_) {
    if (place.tags >= kinds.size()) continue;
    Kind& kind = kinds[place.tags];
    kind.count += place.count;
    if (place.mean() > kind.least * kNear) continue;
    kind.near_ticks += static_cast<double>(place.ticks);
    kind.near_count += static_cast<double>(place.count);
  }
  double ticks = 0, count = 0;
  for (const Kind& kind : kinds) {
    const double each = kind.near_count == 0 ? kind.least : std::min(kind.near_ticks / kind.near_count, most_ticks);
    ticks += static_cast<double>(kind.count) * each;
    count += static_cast<double>(kind.count);
  }
  return count == 0 ? most_ticks : ticks / count;
}

// What mapping new pages adds to a short call.
double EventCosts::page_ticks() const {
  const auto page = places_.find(kFromPage), elsewhere = places_.find(kFromElsewhere);
  if (page == places_.end() || elsewhere == places_.end()) return 0;
  return std::max(0.0, page->second.mean() - elsewhere->second.mean()) * static_cast<double>(page->second.count) /
         static_cast<double>(page->second.count + elsewhere->second.count);
}

std::array<EventCost, PENNA_CLASS_COUNT> EventCosts::costs(double ns_per_tick, const HookCosts& hooks) const {
  // Upper bounds for a record, in nanoseconds, on top of its timestamps; half of what surrounds two.
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
      const auto most_of = [&](size_t group) { return kMost[group].stamps * hooks.stamp_ns + kMost[group].rest; };
      const double most = (most_of(from) + most_of(to)) / 2;
      if (gaps.count == 0) continue;
      const auto count = static_cast<double>(gaps.count);
      if (!is_short)
        ns[kClasses[to]] += count * std::min(gaps.quarter_ticks() * ns_per_tick, most);
      else if (hooks.call_ns != 0)
        ns[kClasses[to]] += count * (hooks.call_ns + page_ticks() * ns_per_tick);
      else
        ns[kClasses[to]] += count * (short_call_ticks(most / ns_per_tick) + page_ticks()) * ns_per_tick;
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
