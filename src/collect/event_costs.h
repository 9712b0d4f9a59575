// SPDX-License-Identifier: MIT
// EventCosts: what recording an event costs a process, measured by the times that stand in its own records.
//
// Why so: between two stamps that follow each other in a thread lies the end of one hook and the beginning of the next, and what the program
// did. Where it did next to nothing, that is the cost; and it does so often, where there are many events. A short call is less than a clock
// may tell apart, so many of them are taken together. A program that does much between its events has no such places: nothing costs more
// than a number of readings of the clock, and what else is known to lie around them.
// Invariant: a sample of the chunks is looked at; all events are counted, also those that filters leave out later: they had their cost.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "recording/records.h"
#include "recording/types.h"

namespace penna {

class EventCosts {
 public:
  // A chunk as the process wrote it.
  void add(std::span<const uint8_t> chunk, const ChunkSummary& summary);

  // `stamp_ns`: of one reading of the clock.
  std::array<EventCost, PENNA_CLASS_COUNT> costs(double ns_per_tick, double stamp_ns) const;

 private:
  enum Group : uint8_t { kShortCall, kLongCall, kAlloc, kOther, kGroups };
  static constexpr size_t kBins = 256, kWindow = 32, kPieceTicks = 8;
  static constexpr uint64_t kAllOfTheFirst = 4, kThenEach = 16;  // chunks
  struct Gaps {
    uint64_t count = 0, measured = 0;          // pairs of records; of them or of windows, those in `bins`
    std::array<uint32_t, kBins> bins{};        // by kPieceTicks; of short calls by ticks a record
    double quarter(double width_ticks) const;  // the quantile; 0: nothing was measured
  };
  using AllGaps = std::array<std::array<Gaps, kGroups>, kGroups>;  // from, to
  void measure(std::span<const uint8_t> chunk);
  static Group group_of(const Record& record);

  uint64_t chunks_ = 0;
  std::array<uint64_t, PENNA_CLASS_COUNT> events_{};
  std::unique_ptr<AllGaps> gaps_;
};

}  // namespace penna
