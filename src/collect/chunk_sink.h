// SPDX-License-Identifier: MIT
// ChunkSink: where copies of the chunks of one process go into a recording, with what they describe and what is counted.
//
// Invariant: what describes (modules, sites, names) is written before the chunk that it came from; every record of a
// stored chunk is counted once, for its thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "recording/records.h"
#include "recording/types.h"
#include "recording/writer.h"

namespace penna {

class ChunkSink {
 public:
  explicit ChunkSink(uint32_t process) : process_(process) {}

  // Looks at every record of a chunk, which is copied memory of at least a penna_chunk, and keeps what describes until
  // store() or forget().
  ChunkSummary scan(std::span<const uint8_t> chunk);
  bool has_descriptions() const { return !modules_.empty() || !sites_.empty(); }  // of the chunk that was scanned
  void forget();
  // Writing errors are the writer's to remember.
  void store(RecordingWriter& writer, std::span<const uint8_t> chunk, const ChunkSummary& summary);

  // Of a chunk that will come again, more complete: counts nothing.
  void store_open(RecordingWriter& writer, std::span<const uint8_t> chunk, const ChunkSummary& summary);

  // Of a thread by serial; 0 = of none. What store() does not count is the caller's to fill in.
  Health& health(uint32_t serial) { return health_[serial]; }
  void write_health(RecordingWriter& writer);

  const std::array<uint64_t, PENNA_CLASS_COUNT>& stored() const { return stored_; }
  uint64_t chunks() const { return chunks_; }
  uint64_t raw_bytes() const { return raw_bytes_; }
  uint64_t torn() const { return torn_; }

 private:
  void write_descriptions(RecordingWriter& writer);

  uint32_t process_;
  std::map<uint32_t, Health> health_;  // by thread serial
  std::vector<Module> modules_;        // met in the current chunk, not yet written
  std::vector<Site> sites_;
  std::vector<Thread> threads_;
  std::array<uint64_t, PENNA_CLASS_COUNT> lost_{};  // told by LOST and BLOCKED records of the current chunk
  uint64_t blocked_ticks_ = 0;
  std::array<uint64_t, PENNA_CLASS_COUNT> stored_{};
  uint64_t chunks_ = 0, raw_bytes_ = 0, torn_ = 0;
};

}  // namespace penna
