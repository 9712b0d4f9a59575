// SPDX-License-Identifier: MIT
// See view_data.h.
#include "view/data/view_data.h"

#include <chrono>
#include <utility>

#include "view/tracks/indexed_tracks.h"
#include "view/tracks/tracks_in_memory.h"

namespace penna {

ViewData::ViewData(const Recording& recording, Names& names, TrackOptions options)
    : recording_(recording),
      names_(names),
      options_(std::move(options)),
      summary_(std::make_shared<const Summary>(summarize(recording))),
      answers_(answers_paths(), needs_index() ? identity_of(recording) : 0, options_.answers_key) {}

// Only what is of the whole recording is kept.
std::vector<std::string> ViewData::answers_paths() const {
  return needs_index() && reads_all(recording_) ? options_.index_paths : std::vector<std::string>();
}

ViewData::~ViewData() {
  stop_ = true;
  if (maker_.joinable()) maker_.join();
  if (watcher_.joinable()) watcher_.join();
}

void ViewData::start() {
  const std::lock_guard hold(mutex_);
  if (!needs_index() || std::exchange(is_begun_, true)) return;
  maker_ = std::thread([this] { make(); });
  watcher_ = std::thread([this] { watch(); });
}

std::optional<std::string> ViewData::prepare() {
  if (!needs_index()) return {};
  std::unique_lock hold(mutex_);
  const bool is_first = !std::exchange(is_begun_, true);
  if (is_first) {
    if (maker_.joinable()) maker_.join();  // has ended: renew()
    maker_ = std::thread([this] { make(); });
    hold.unlock();
    watch();
    hold.lock();
  }
  changed_.wait(hold, [this] { return is_made_; });
  if (!trouble_.empty()) return trouble_;
  return {};
}

void ViewData::make() {
  std::string sentence;
  const IndexMaking making{stop_,
                           events_,
                           [&](const std::string& text) { sentence = text; },
                           options_.index_paths,
                           renewed_ != 0,
                           options_.spans_of_leaf};
  Result<std::unique_ptr<ViewIndex>> made = ViewIndex::open_or_make(recording_, *summary_, making);
  if (made) answers_.index_is_made();
  const std::lock_guard hold(mutex_);
  if (made)
    index_ = std::move(*made);
  else
    trouble_ = made.error().text;
  sentence_ = sentence;
  is_made_ = true;
  changed_.notify_all();
}

// Reports progress until it is made.
void ViewData::watch() {
  uint64_t reported = 0;
  std::unique_lock hold(mutex_);
  while (!changed_.wait_for(hold, std::chrono::milliseconds(200), [this] { return is_made_; })) {
    const uint64_t events = events_;
    options_.step(events - reported);
    reported = events;
  }
  hold.unlock();
  options_.step(events_ - reported);
  options_.done();
  if (!sentence_.empty()) options_.say(sentence_);
}

ViewData::State ViewData::state() const {
  const std::lock_guard hold(mutex_);
  return {events_, !needs_index() || is_made_};
}

// Not forever: a disk that returns other data than was written is beyond repair here.
bool ViewData::renew() {
  constexpr int kMost = 3;
  if (!store_ || !store_->is_damaged() || renewed_ == kMost) return false;
  const std::lock_guard hold(mutex_);
  store_.reset();
  ++renewed_;
  is_begun_ = is_made_ = false;
  return true;
}

TrackStore& ViewData::store() {
  if (store_) return *store_;
  if (needs_index()) {
    const std::lock_guard hold(mutex_);
    walk_ = index_->walk();
    store_ = std::make_unique<IndexedTracks>(recording_, names_, ids_, std::move(index_));
  } else {
    store_ = std::make_unique<TracksInMemory>(
        recording_, *summary_, names_, ids_, [this] { options_.step(1); }, &walk_);
  }
  return *store_;
}

}  // namespace penna
