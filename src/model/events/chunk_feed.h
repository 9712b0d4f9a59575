// SPDX-License-Identifier: MIT
// ChunkFeed: gives chunks in order, and has further ones unpacked by other processors meanwhile.
//
// Why: unpacking a chunk takes about as long as analysing it.
// Invariant: at most kAhead chunks are held. Who asks for a chunk never waits while there is one that nobody unpacks;
// without threads (one processor, none to be had) it unpacks them all itself.
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

  // The next chunk, as of Recording::read_chunk. Once for each, by one thread.
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
  std::mutex mutex_;  // guards all below
  std::condition_variable unpacked_, room_;
  size_t begun_ = 0, given_ = 0;  // of chunks_
  bool stop_ = false;
  std::array<Slot, kAhead> slots_;  // of chunks given_ to begun_; one that is not ready belongs to who unpacks it
  std::vector<pthread_t> threads_;
};

}  // namespace penna
