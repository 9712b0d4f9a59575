// SPDX-License-Identifier: MIT
// EventCosts: what recording an event costs a process, estimated from the timestamps in its own records.
//
// Why this way: between two consecutive timestamps of a thread lie the end of one hook, the start of the next, and the
// program's work in between. From one place in the program to another that varies little, so gaps are averaged per pair
// of places: clocks are coarse, and a hook costs more where it misses caches and branch predictions. The smallest
// averages belong to places where the program did next to nothing; those close to the minimum show what a hook costs in
// this run, and the others, where the program works, show nothing. A program that works between all of its events has
// no such places: then a cost is capped by a number of clock readings, and by what else is known to happen around them.
// Hooks of -finstrument-functions cost so little that the program's own work always dominates; but they do the same for
// any caller, so a loop measures their cost.
// Invariant: a sample of the chunks is examined, spread evenly over the run and weighted, because chunks differ
// (whether a call is a short or a long record depends on how its chunk began); all events are counted, including those
// that filters remove later, because they had their cost.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

#include "collect/clocks.h"
#include "recording/records.h"
#include "recording/types.h"

namespace penna {

class EventCosts {
 public:
  // A chunk as the process wrote it.
  void add(std::span<const uint8_t> chunk, const ChunkSummary& summary);

  // `hooks`: call_ns is set only if all calls were recorded by such hooks.
  std::array<EventCost, PENNA_CLASS_COUNT> costs(double ns_per_tick, const HookCosts& hooks) const;

 private:
  enum Group : uint8_t { kShortCall, kLongCall, kAlloc, kOther, kGroups };
  // Bins of kPieceTicks ticks each. Gaps of kLongestTicks and more are the program's own work, or an interrupt.
  static constexpr size_t kBins = 256, kPieceTicks = 8, kLongestTicks = kBins * kPieceTicks;
  static constexpr size_t kMostPlaces = 4096;
  struct Gaps {
    uint64_t count = 0;                  // pairs of records, weighted by their chunk
    std::array<uint64_t, kBins> bins{};  // of these, by kPieceTicks; not for short calls
    double quarter_ticks() const;
  };
  // For short calls: gaps between two records of the same two places.
  struct Place {
    uint8_t tags;  // of both; or see event_costs.cc
    uint64_t count = 0, ticks = 0;
    double mean() const { return static_cast<double>(ticks) / static_cast<double>(count); }
  };
  using AllGaps = std::array<std::array<Gaps, kGroups>, kGroups>;  // from, to
  static uint64_t weight_of(uint64_t chunk);
  void measure(std::span<const uint8_t> chunk, uint64_t weight);
  void measure_short(const Record& from, const Record& to, uint64_t weight);
  double short_call_ticks(double most_ticks) const;
  double page_ticks() const;
  static Group group_of(const Record& record);

  uint64_t chunks_ = 0;
  std::array<uint64_t, PENNA_CLASS_COUNT> events_{};
  std::unique_ptr<AllGaps> gaps_;
  std::unordered_map<uint64_t, Place> places_;
};

}  // namespace penna
