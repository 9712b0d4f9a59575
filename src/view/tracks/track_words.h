// SPDX-License-Identifier: MIT
// TrackWords: what a track stores of a timeline's line: its times, and names by number.
//
// Invariant: a name is looked up once per function, not once per call. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash.h"
#include "export/text/event_words.h"
#include "view/tracks/tracks.h"

namespace penna {

class TrackWords {
 public:
  // All must outlive it. Handles processes and threads that appear later.
  TrackWords(const Recording& recording, const CodeMap& map, Names& names, NameIds& ids)
      : recording_(recording), map_(map), words_(recording, names), ids_(ids) {}

  int64_t time_ns(uint64_t ticks) const { return words_.time_ns(ticks); }
  int64_t begin_of(const TimelineLine& line) const { return words_.time_ns(line.begin); }
  int64_t end_of(const TimelineLine& line) const { return begin_of(line) + words_.duration_ns(line); }
  static uint8_t flags(const TimelineLine& line) {
    return static_cast<uint8_t>((line.inherited ? Slices::kBeginUnknown : 0) |
                                (line.end == CallEnd::kOpen ? Slices::kEndUnknown : 0));
  }

  uint32_t function(const TimelineLine& line);
  TrackWait wait(const TimelineLine& line);
  TrackHold hold(const TimelineLine& line) { return {begin_of(line), end_of(line), ids_.id(words_.name(line))}; }
  TrackPoint point(const TimelineLine& line);

 private:
  const Recording& recording_;
  const CodeMap& map_;
  EventWords words_;
  NameIds& ids_;
  size_t texts_ = 0;
  std::vector<NumberMap<uint32_t>> functions_;  // by process, pc
  NumberMap<uint32_t> threads_;                 // pair_key of process and tid
  uint32_t threads_met_ = 0;
};

}  // namespace penna
