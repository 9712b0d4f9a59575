// SPDX-License-Identifier: MIT
// FlightRecorder: keeps the newest chunks of all processes in memory, and lets them into the recording when a function is entered.
//
// Why an onlooker: it sees each record once, also of chunks that are still being filled, in time.
// Invariant: the chunks that it keeps take at most `bytes`, whatever targets do; each is stored or counted as thrown away.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/hash.h"
#include "collect/chunk_sink.h"
#include "collect/onlooker.h"
#include "recording/call_sieve.h"

namespace penna {

// What penna record was asked for with -T FUNC@snapshot.
struct SnapshotRules {
  CallRules functions;  // FunctionTraits::snapshot says which; nothing else of it counts
  uint64_t bytes = 0;   // of memory, at most; 0: no flight recorder
};

// Of one recording; all on the collector's thread.
class FlightRecorder final : public PassingOnlooker {
 public:
  // `most_functions`: of all processes, about which it is known what the rules say.
  explicit FlightRecorder(SnapshotRules rules, size_t most_functions = Budget::kFunctions)
      : rules_(std::move(rules)), most_functions_(most_functions) {}

  // A chunk that `sink` has scanned and described. What was begun before the last snapshot was due goes into the recording at once.
  void keep(RecordingWriter& writer, const std::shared_ptr<ChunkSink>& sink, std::span<const uint8_t> chunk,
            const ChunkSummary& summary);
  // The process of `sink` is gone: it ends with the last of its chunks.
  void ended(RecordingWriter& writer, const std::shared_ptr<ChunkSink>& sink);
  // Stores what is kept, if such a function was entered since the last time. Chunks that are still being filled are the caller's.
  bool take_snapshot_if_due(RecordingWriter& writer);
  bool wants(const penna_chunk& chunk) const { return chunk.time_begin <= due_time_; }
  void throw_all_away(RecordingWriter& writer);

  uint64_t snapshots() const { return snapshots_; }
  uint64_t bytes() const { return bytes_; }

  void records(uint32_t process, std::span<const uint8_t> chunk) override;
  void ended(const ProcessEnd& end) override;

 private:
  static constexpr size_t kMaxUnplaced = 4096;
  struct Kept {
    std::shared_ptr<ChunkSink> sink;
    std::vector<uint8_t> chunk;
    ChunkSummary summary;
    uint64_t bytes() const { return chunk.size() + sizeof(Kept) + 64; }
  };
  struct Watched {              // a process
    NumberMap<bool> functions;  // by pc: whether a snapshot is wanted there; those that are certain
    std::vector<uint64_t> unplaced;
    std::array<uint64_t, 64> others{};  // pcs where none is, in front of `functions`: most calls are of few
  };
  void entered(uint32_t process, Watched& watched, uint64_t pc, uint64_t ticks);
  void remember(Watched& watched, uint64_t pc, bool wanted);
  void forget(Watched& watched);
  void learn(uint32_t process, Watched& watched, const Record& record);
  Kept take_oldest();
  void store_kept(RecordingWriter& writer);
  void release(RecordingWriter& writer, const std::shared_ptr<ChunkSink>& sink);

  SnapshotRules rules_;
  size_t most_functions_;
  std::deque<Kept> kept_;  // oldest first
  uint64_t bytes_ = 0;
  bool due_ = false;
  uint64_t due_time_ = 0;  // ticks at which such a function was entered last
  uint64_t snapshots_ = 0;
  std::map<uint32_t, Watched> watched_;
  size_t functions_ = 0;  // of all of them
  struct Share {
    uint64_t chunks = 0;
    bool ended = false;
  };
  std::map<const ChunkSink*, Share> shares_;  // of those with chunks here
};

}  // namespace penna
