// SPDX-License-Identifier: MIT
// TracksInMemory: answers for the tracks of a small recording, which is read completely at once.
//
// Memory: that of the tracks (tracks.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/events/summary.h"
#include "view/tracks/track_store.h"

namespace penna {

class TracksInMemory : public TrackStore {
 public:
  // `ids` must outlive it. `step`: called for each event read. *walk: what could not be read.
  TracksInMemory(const Recording& recording, const Summary& summary, Names& names, NameIds& ids,
                 const std::function<void()>& step, WalkReport* walk);

  uint64_t waits(uint32_t thread) override { return tracks_[thread].waits.size(); }
  uint32_t rows(uint32_t thread) override { return static_cast<uint32_t>(tracks_[thread].rows.size()); }
  std::string slices_answer(uint32_t thread, const PixelView& view) override {
    return penna::slices_answer(tracks_[thread], view, ids_.size());
  }
  std::string waits_answer(uint32_t thread, const PixelView& view) override {
    return penna::waits_answer(tracks_[thread], view, ids_.size());
  }
  std::string points_answer(uint32_t thread, const PixelView& view) override {
    return penna::points_answer(tracks_[thread], view, ids_.size());
  }
  std::optional<Instance> find(uint32_t thread, const InstanceChoice& choice) override {
    return find_instance(tracks_[thread], choice);
  }
  const Counters& counters() override { return counters_; }
  void each_name(const VisitName& visit) override;

 private:
  NameIds& ids_;
  std::vector<Track> tracks_;
  Counters counters_;
};

}  // namespace penna
