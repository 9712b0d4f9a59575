// SPDX-License-Identifier: MIT
// ViewData: a recording as the page sees it, and the results computed from it once.
//
// A small recording has all its tracks in memory, made at the first question for one; a larger one has an index, built
// by separate threads meanwhile (view_index.h).
// Invariant: all of it is of one recording, which does not change. Not thread-safe, one question at a time, except for
// start(), prepare() and state().
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "model/events/summary.h"
#include "model/names/names.h"
#include "view/data/view_source.h"
#include "view/tracks/kept_answers.h"
#include "view/tracks/view_index.h"

namespace penna {

struct TrackOptions {
  // While the recording is read, with the number of events since the last call; done(): when finished. Called by one
  // thread, possibly one of ViewData's own.
  std::function<void(uint64_t events)> step = [](uint64_t) {};
  std::function<void()> done = [] {};
  std::function<void(const std::string&)> say = [](const std::string&) {};  // a sentence to the user
  std::vector<std::string> index_paths = {};                                // IndexMaking::paths
  std::string answers_key = {};  // what texts depend on besides the recording (kept_answers.h); empty: none are kept
  static constexpr uint64_t kMostInMemory = 2'000'000;
  uint64_t most_in_memory = kMostInMemory;  // events
  size_t spans_of_leaf = IndexMaking::kSpansOfLeaf;
};

class ViewData : public ViewSource {
 public:
  // Both must outlive it.
  ViewData(const Recording& recording, Names& names, TrackOptions options = {});
  ~ViewData() override;
  ViewData(const ViewData&) = delete;
  ViewData& operator=(const ViewData&) = delete;

  const Recording& recording() const override { return recording_; }
  std::shared_ptr<const Summary> summary() const override { return summary_; }

  bool is_small() const override { return !needs_index(); }
  // Starts building the index, if there is to be one, and does not wait for it.
  void start();
  std::optional<std::string> prepare() override;
  TrackStore& store() override;
  bool renew() override;
  State state() const override;
  std::optional<std::string> kept_answer(const std::string& name) const override { return answers_.find(name); }
  void keep_answer(const std::string& name, const std::string& text) override { answers_.keep(name, text); }
  // What was read for the tracks and what could not be; empty before prepare(), and for an existing index.
  const WalkReport& walk() const { return walk_; }

 private:
  bool needs_index() const { return summary_->total_events() > options_.most_in_memory; }
  std::vector<std::string> answers_paths() const;
  void make();
  void watch();

  const Recording& recording_;
  Names& names_;
  TrackOptions options_;
  const std::shared_ptr<const Summary> summary_;
  KeptAnswers answers_;
  WalkReport walk_;
  std::unique_ptr<TrackStore> store_;
  int renewed_ = 0;

  std::atomic<bool> stop_ = false;
  std::atomic<uint64_t> events_ = 0;
  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  bool is_begun_ = false, is_made_ = false;
  std::unique_ptr<const ViewIndex> index_;  // until store_ has it
  std::string trouble_, sentence_;
  std::thread maker_, watcher_;
};

}  // namespace penna
