// SPDX-License-Identifier: MIT
// GrowingTracks: the tracks of a recording that is still being written, extended as records come.
//
// Why not the tracks of a finished one: those are made at once, from the whole recording.
// Invariant: what a thread is in the middle of (open calls, a wait) is drawn up to now, without a known end, and
// redrawn when more has come. Of very many calls, the newest are kept, and the others are counted as left out.
// Memory: that of the tracks (tracks.h), of kMost calls and points.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/events/sampling.h"
#include "model/events/summary.h"
#include "model/timeline/timeline.h"
#include "view/tracks/live_bytes.h"
#include "view/tracks/track_store.h"
#include "view/tracks/track_words.h"

namespace penna {

class GrowingTracks : public TrackStore {
 public:
  // All must outlive it. `most`: calls, and points.
  GrowingTracks(const Recording& recording, NameIds& ids, uint64_t most = kMost);
  static constexpr uint64_t kMost = 8'000'000;

  // Call before adding records of processes and modules that are new: `names` must know them.
  void use_names(Names& names);
  // The next records of a thread. `gap`: some are missing before them, and so it is unknown which calls are open.
  void add(uint32_t thread, std::span<const uint8_t> chunk, bool gap);
  // Call when everything that has happened until now was added, and before the first answer.
  void settle(uint64_t now_ticks);

  const EventCounts& events(uint32_t thread) const { return threads_[thread].events; }
  uint64_t first_time(uint32_t thread) const { return threads_[thread].first_time; }  // ticks; 0: none came
  uint64_t last_time(uint32_t thread) const { return threads_[thread].last_time; }

  uint64_t waits(uint32_t thread) override { return track(thread).waits.size(); }
  uint32_t rows(uint32_t thread) override { return static_cast<uint32_t>(track(thread).rows.size()); }
  std::string slices_answer(uint32_t thread, const PixelView& view) override {
    return penna::slices_answer(track(thread), view, ids_.size());
  }
  std::string waits_answer(uint32_t thread, const PixelView& view) override {
    return penna::waits_answer(track(thread), view, ids_.size());
  }
  std::string points_answer(uint32_t thread, const PixelView& view) override {
    return penna::points_answer(track(thread), view, ids_.size());
  }
  std::optional<Instance> find(uint32_t thread, const InstanceChoice& choice) override {
    return find_instance(track(thread), choice);
  }
  const Counters& counters() override { return counters_; }
  void each_name(const VisitName& visit) override;

 private:
  struct Growing {
    Track track;
    std::unique_ptr<Timeline> timeline;
    std::vector<uint32_t> open_rows;   // rows whose last slice is that of an open call
    std::optional<TimelineLine> wait;  // that has begun
    bool shows_wait = false;           // as the last of track.waits
    EventCounts events{};
    uint64_t first_time = 0, last_time = 0;  // ticks
  };
  Growing& met(uint32_t thread);
  Track& track(uint32_t thread) { return met(thread).track; }
  void line(Growing& thread, const TimelineLine& line);
  void slice(Track& track, const TimelineLine& line);
  uint32_t put(Track& track, uint32_t depth, int64_t start, int64_t end, uint32_t name, uint8_t flags);
  static void forget_open(Growing& thread);
  void show_open(Growing& thread, uint64_t now_ticks);
  void drop_oldest();

  const Recording& recording_;
  NameIds& ids_;
  const uint64_t most_;
  std::optional<TrackWords> words_;
  std::vector<Growing> threads_;
  uint64_t kept_ = 0;  // calls and points
  Counters counters_;
  SampleScale scale_;
  LiveBytes live_;
};

}  // namespace penna
