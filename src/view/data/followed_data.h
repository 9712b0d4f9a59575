// SPDX-License-Identifier: MIT
// FollowedData: a recording that is still being written, as the page sees it.
//
// Usage:  use_names(names); add(thread, chunk, gap)…; settle(now); then questions may be answered.
// Invariant: the ids of threads are indices of the recording, which does not change them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>

#include "view/data/view_source.h"
#include "view/tracks/growing_tracks.h"

namespace penna {

class FollowedData : public ViewSource {
 public:
  // It must outlive this, and grows.
  explicit FollowedData(const Recording& recording) : recording_(recording), tracks_(recording, ids_) {}

  // See GrowingTracks.
  void use_names(Names& names) { tracks_.use_names(names); }
  void add(uint32_t thread, std::span<const uint8_t> chunk, bool gap) { tracks_.add(thread, chunk, gap); }
  void settle(uint64_t now_ticks);
  // Nothing more comes, and this stays what is shown.
  void end() { is_growing_ = false; }

  const Recording& recording() const override { return recording_; }
  std::shared_ptr<const Summary> summary() const override;
  TrackStore& store() override { return tracks_; }
  bool is_growing() const override { return is_growing_; }
  bool is_small() const override { return false; }

 private:
  const Recording& recording_;
  GrowingTracks tracks_;
  std::atomic<bool> is_growing_ = true;
  mutable std::mutex mutex_;  // guards summary_
  std::shared_ptr<const Summary> summary_ = std::make_shared<const Summary>();
};

}  // namespace penna
