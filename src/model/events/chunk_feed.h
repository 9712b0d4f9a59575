// SPDX-License-Identifier: MIT
// ChunkFeed: returns chunks in order while other processors unpack those that follow; Unpackers: the threads that do.
//
// Why: unpacking a chunk takes about as long as analysing it. Why feeds share threads: a merge reads from many feeds,
// from each slowly.
// Invariant: at most kAhead chunks of a feed are held. The consumer never waits while there is a chunk of its feed that
// no thread is unpacking; without threads (one processor, or none could be created) it unpacks them all itself.
#pragma once

#include <pthread.h>

#include <array>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "model/events/processors.h"
#include "recording/reader.h"

namespace penna {

class ChunkFeed;

// The threads that unpack for some feeds with one consumer. Started with the first feed.
class Unpackers {
 public:
  static constexpr size_t kMostThreads = 3;  // more would only wait for the consumer

  Unpackers() = default;
  ~Unpackers();
  Unpackers(const Unpackers&) = delete;
  Unpackers& operator=(const Unpackers&) = delete;

 private:
  friend class ChunkFeed;
  static void* run(void* self);
  void add(ChunkFeed* feed);
  ChunkFeed* next_feed();

  std::mutex mutex_;  // guards everything below, and what its feeds say it does
  std::condition_variable room_;
  std::vector<ChunkFeed*> feeds_;
  size_t turn_ = 0;  // of feeds_: where to look first, so that none waits for another
  bool stop_ = false;
  std::unique_ptr<Helpers> helpers_;
  std::vector<pthread_t> threads_;
};

class ChunkFeed {
 public:
  static constexpr size_t kAhead = 8;

  // Reads nothing yet. `recording` must outlive it.
  ChunkFeed(const Recording& recording, std::vector<ChunkRef> chunks, std::shared_ptr<Unpackers> unpackers);
  ~ChunkFeed();
  ChunkFeed(const ChunkFeed&) = delete;
  ChunkFeed& operator=(const ChunkFeed&) = delete;

  // The next chunk, like Recording::read_chunk. Call once per chunk, from one thread.
  Result<> next(std::vector<uint8_t>& bytes);

 private:
  friend class Unpackers;
  struct Slot {
    std::vector<uint8_t> bytes;
    std::string error;  // empty: none
    bool ready = false;
  };
  Slot& slot(size_t chunk) { return slots_[chunk % kAhead]; }
  bool can_begin() const { return begun_ < chunks_.size() && begun_ < given_ + kAhead; }
  void unpack_one(std::unique_lock<std::mutex>& lock);

  const Recording& recording_;
  const std::vector<ChunkRef> chunks_;
  const std::shared_ptr<Unpackers> unpackers_;
  // Guarded by the unpackers' mutex_:
  std::condition_variable unpacked_;
  size_t begun_ = 0, given_ = 0;    // of chunks_
  size_t working_ = 0;              // chunks that are being unpacked
  std::array<Slot, kAhead> slots_;  // of chunks given_ to begun_; one that is not ready belongs to its unpacking thread
};

}  // namespace penna
