// SPDX-License-Identifier: MIT
// ChunkFeed: returns chunks in order while other processors unpack those that follow.
//
// Why: unpacking a chunk takes about as long as analysing it.
// Invariant: at most kAhead chunks are held. The consumer never waits while there is a chunk that no thread is
// unpacking; without threads (one processor, or none could be created) it unpacks them all itself.
#pragma once

#include <pthread.h>

#include <array>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "recording/reader.h"

namespace penna {

class ChunkFeed {
 public:
  static constexpr size_t kAhead = 8;

  // Reads nothing yet. `recording` must outlive it.
  ChunkFeed(const Recording& recording, std::vector<ChunkRef> chunks);
  ~ChunkFeed();
  ChunkFeed(const ChunkFeed&) = delete;
  ChunkFeed& operator=(const ChunkFeed&) = delete;

  // The next chunk, like Recording::read_chunk. Call once per chunk, from one thread.
  Result<> next(std::vector<uint8_t>& bytes);

 private:
  struct Slot {
    std::vector<uint8_t> bytes;
    std::string error;  // empty: none
    bool ready = false;
  };
  static void* run(void* self);
  Slot& slot(size_t chunk) { return slots_[chunk % kAhead]; }
  bool can_begin() const { return begun_ < chunks_.size() && begun_ < given_ + kAhead; }
  void unpack_one(std::unique_lock<std::mutex>& lock);

  const Recording& recording_;
  const std::vector<ChunkRef> chunks_;
  std::mutex mutex_;  // guards everything below
  std::condition_variable unpacked_, room_;
  size_t begun_ = 0, given_ = 0;  // of chunks_
  bool stop_ = false;
  std::array<Slot, kAhead> slots_;  // of chunks given_ to begun_; one that is not ready belongs to its unpacking thread
  std::vector<pthread_t> threads_;
};

}  // namespace penna
