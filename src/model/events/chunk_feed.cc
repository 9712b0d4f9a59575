// SPDX-License-Identifier: MIT
// See chunk_feed.h.
#include "model/events/chunk_feed.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace penna {

ChunkFeed::ChunkFeed(const Recording& recording, std::vector<ChunkRef> chunks)
    : recording_(recording), chunks_(std::move(chunks)) {
  constexpr unsigned kMostThreads = 3;  // more would only wait for the consumer
  const unsigned processors = std::thread::hardware_concurrency();
  const unsigned wanted = processors < 2 ? 0 : std::min(processors - 1, kMostThreads);
  const std::lock_guard lock(mutex_);
  for (pthread_t thread; threads_.size() < wanted && ::pthread_create(&thread, nullptr, run, this) == 0;)
    threads_.push_back(thread);
}

ChunkFeed::~ChunkFeed() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  room_.notify_all();
  for (pthread_t thread : threads_) ::pthread_join(thread, nullptr);
}

void* ChunkFeed::run(void* self) {
  auto& feed = *static_cast<ChunkFeed*>(self);
  std::unique_lock lock(feed.mutex_);
  for (;;) {
    feed.room_.wait(lock, [&feed] { return feed.stop_ || feed.can_begin(); });
    if (feed.stop_) return nullptr;
    feed.unpack_one(lock);
    feed.unpacked_.notify_one();
  }
}

void ChunkFeed::unpack_one(std::unique_lock<std::mutex>& lock) {
  const size_t chunk = begun_++;
  Slot& mine = slot(chunk);
  lock.unlock();
  const Result<> read = recording_.read_chunk(chunks_[chunk], mine.bytes);
  mine.error = read ? "" : read.error().text;
  lock.lock();
  mine.ready = true;
}

Result<> ChunkFeed::next(std::vector<uint8_t>& bytes) {
  std::unique_lock lock(mutex_);
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
  room_.notify_one();
  if (!error.empty()) return Error{std::move(error)};
  return ok();
}

}  // namespace penna
