// SPDX-License-Identifier: MIT
// TrackStore: answers for the tracks of all threads. There are two implementations: for small recordings all tracks are
// in memory; for larger ones there is an index (view_index.h).
//
// Invariant: both give the same answers, except that in a sum from the index, calls may be counted one pixel off; and
// the function that took most of it is given only if it is certain. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "view/tracks/counters.h"
#include "view/tracks/track_answers.h"

namespace penna {

class TrackStore {
 public:
  virtual ~TrackStore() = default;

  virtual uint64_t waits(uint32_t thread) = 0;
  virtual uint32_t rows(uint32_t thread) = 0;
  // Answers in columns (docs/view-protocol.md).
  virtual std::string slices_answer(uint32_t thread, const PixelView& view) = 0;
  virtual std::string waits_answer(uint32_t thread, const PixelView& view) = 0;
  virtual std::string points_answer(uint32_t thread, const PixelView& view) = 0;
  virtual std::optional<Instance> find(uint32_t thread, const InstanceChoice& choice) = 0;
  virtual const Counters& counters() = 0;
  // Answers are incomplete, because something can no longer be read.
  virtual bool is_damaged() const { return false; }

  enum class Named : uint8_t { kFunction, kLock, kPoint };
  // Some names occur several times: their sums are to be added. `total`: ns in it, or waiting for it.
  using VisitName = std::function<void(Named kind, uint32_t name, uint64_t count, int64_t total)>;
  virtual void each_name(const VisitName& visit) = 0;
};
// Those of a track that is in memory.
void each_name_of(const Track& track, const TrackStore::VisitName& visit);

}  // namespace penna
