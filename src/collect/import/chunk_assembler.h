// SPDX-License-Identifier: MIT
// ChunkAssembler: records that were not written into chunks by a thread of a target become chunks of a recording.
//
// Why chunks: a recording knows nothing else. The records of each thread are put one behind the other, as if the thread
// had filled its chunks itself.
// Invariant: every record that is added is in the recording once, after finish(). Memory: a chunk for each thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "collect/chunk_sink.h"

namespace penna {

class ChunkAssembler {
 public:
  // The sink's process is theirs.
  explicit ChunkAssembler(ChunkSink& sink) : sink_(sink) {}

  // The thread's serial. More threads than any source has: the rest goes on under one of them.
  uint32_t serial(uint32_t thread) { return builder_for(thread).serial; }
  size_t threads() const { return builders_.size(); }
  // `record`: its header word and what follows; of a kind that needs no context of a chunk. `time`: ticks, whole.
  void add(RecordingWriter& writer, uint32_t thread, std::span<const uint8_t> record, uint64_t time);
  template <typename Payload>
  void add(RecordingWriter& writer, uint32_t thread, uint32_t kind, uint64_t time, const Payload& payload) {
    static_assert(sizeof payload % 8 == 0);
    uint8_t record[8 + sizeof payload];
    const uint64_t header = penna_full_header(kind, 1 + sizeof payload / 8, time);
    std::memcpy(record, &header, sizeof header);
    std::memcpy(record + sizeof header, &payload, sizeof payload);
    add(writer, thread, record, time);
  }
  // Writes what is not yet in the recording.
  void finish(RecordingWriter& writer);

 private:
  static constexpr size_t kMaxThreads = 1 << 16;  // bounds the number of open chunks
  // What one thread has written so far, and which is not yet in the recording.
  struct Builder {
    std::vector<uint8_t> chunk;
    uint32_t serial = 0;
    uint64_t sequence = 0;
    uint64_t first = 0, last = 0;  // times
  };
  Builder& builder_for(uint32_t thread);
  void flush(RecordingWriter& writer, uint32_t thread, Builder& builder);

  ChunkSink& sink_;
  std::map<uint32_t, Builder> builders_;  // by thread
};

}  // namespace penna
