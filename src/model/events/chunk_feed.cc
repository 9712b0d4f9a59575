// SPDX-License-Identifier: MIT
// See chunk_feed.h.
#include "model/events/chunk_feed.h"

#include <algorithm>
#include <utility>

namespace penna {

// ---- Unpackers

Unpackers::~Unpackers() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  room_.notify_all();
  for (pthread_t thread : threads_) ::pthread_join(thread, nullptr);
}

// Called with mutex_ held.
void Unpackers::add(ChunkFeed* feed) {
  feeds_.push_back(feed);
  if (helpers_) return;
  helpers_ = std::make_unique<Helpers>(kMostThreads);
  for (pthread_t thread; threads_.size() < helpers_->count() && ::pthread_create(&thread, nullptr, run, this) == 0;)
    threads_.push_back(thread);
}

// Null: none has a chunk to unpack and room for it.
ChunkFeed* Unpackers::next_feed() {
  for (size_t i = 0; i < feeds_.size(); ++i) {
    turn_ = (turn_ + 1) % feeds_.size();
    if (feeds_[turn_]->can_begin()) return feeds_[turn_];
  }
  return nullptr;
}

void* Unpackers::run(void* self) {
  auto& all = *static_cast<Unpackers*>(self);
  std::unique_lock lock(all.mutex_);
  while (!all.stop_) {
    if (ChunkFeed* feed = all.next_feed()) {
      feed->unpack_one(lock);
      feed->unpacked_.notify_all();
    } else {
      all.room_.wait(lock);
    }
  }
  return nullptr;
}

// ---- ChunkFeed

ChunkFeed::ChunkFeed(const Recording& recording, std::vector<ChunkRef> chunks, std::shared_ptr<Unpackers> unpackers)
    : recording_(recording), chunks_(std::move(chunks)), unpackers_(std::move(unpackers)) {
  const std::lock_guard lock(unpackers_->mutex_);
  unpackers_->add(this);
  unpackers_->room_.notify_all();
}

ChunkFeed::~ChunkFeed() {
  std::unique_lock lock(unpackers_->mutex_);
  std::erase(unpackers_->feeds_, this);
  unpacked_.wait(lock, [this] { return working_ == 0; });
}

void ChunkFeed::unpack_one(std::unique_lock<std::mutex>& lock) {
  const size_t chunk = begun_++;
  Slot& mine = slot(chunk);
  ++working_;
  lock.unlock();
  const Result<> read = recording_.read_chunk(chunks_[chunk], mine.bytes);
  mine.error = read ? "" : read.error().text;
  lock.lock();
  mine.ready = true;
  --working_;
}

Result<> ChunkFeed::next(std::vector<uint8_t>& bytes) {
  std::unique_lock lock(unpackers_->mutex_);
  Slot& wanted = slot(given_);
  while (!wanted.ready) {
    if (can_begin()) {
      unpack_one(lock);
    } else {
      unpacked_.wait(lock);
    }
  }
  wanted.ready = false;
  ++given_;
  bytes.swap(wanted.bytes);
  std::string error = std::move(wanted.error);
  lock.unlock();
  unpackers_->room_.notify_one();
  if (!error.empty()) return Error{std::move(error)};
  return ok();
}

}  // namespace penna
