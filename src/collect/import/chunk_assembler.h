// SPDX-License-Identifier: MIT
// ChunkAssembler: puts records that no target thread wrote into chunks of a recording.
//
// Why chunks: a recording's events are stored in nothing else. The records of each thread are appended, as if the
// thread had filled its chunks itself.
// Invariant: every record that is added is in the recording once, after finish(). Memory: one chunk per thread.
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
  // The chunks belong to the sink's process.
  explicit ChunkAssembler(ChunkSink& sink) : sink_(sink) {}

  // The thread's serial. Beyond the limit on threads, all others share one serial.
  uint32_t serial(uint32_t thread) { return builder_for(thread).serial; }
  size_t threads() const { return builders_.size(); }
  // `record`: its header word and what follows; of a kind that does not depend on its chunk. `time`: in ticks.
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
  // Writes everything not yet in the recording.
  void finish(RecordingWriter& writer);

 private:
  static constexpr size_t kMaxThreads = 1 << 16;  // bounds the number of open chunks
  // Records that one thread has added and that are not in the recording yet.
  struct Builder {
    std::vector<uint8_t> chunk;
    // 1, 2 … in the order in which threads appear, as a real process numbers them.
    uint32_t serial = 0;
    uint64_t sequence = 0;
    uint64_t first = 0, last = 0;  // record times
  };
  Builder& builder_for(uint32_t thread);
  void flush(RecordingWriter& writer, uint32_t thread, Builder& builder);

  ChunkSink& sink_;
  std::map<uint32_t, Builder> builders_;  // by thread
};

}  // namespace penna
