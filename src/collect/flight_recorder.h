// SPDX-License-Identifier: MIT
// FlightRecorder: keeps the newest chunks of all processes in memory, and stores them in the recording when a function
// is entered, on request, or when the recording ends.
//
// Why an observer: it sees each record once, in time (entry_watch.h).
// Invariant: the chunks that it keeps take at most `bytes`, whatever targets do; each is stored or counted as
// discarded.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "collect/chunk_sink.h"
#include "collect/entry_watch.h"

namespace penna {

// The options of penna record -T FUNC@snapshot, --ring and --keep.
struct SnapshotRules {
  CallRules functions;         // FunctionTraits::snapshot marks them; the rest of the rules is ignored. No `ask`: none
  uint64_t bytes = 0;          // of memory, at most; 0: no flight recorder
  uint64_t ticks = 0;          // of time, at least, as far as the bytes allow; 0: no limit
  bool takes_the_end = false;  // the end of the recording triggers one, too
};

// One per recording; all on the collector's thread.
class FlightRecorder final : public EntryWatch {
 public:
  // `most_functions`: of all processes, how many functions are remembered with their traits.
  explicit FlightRecorder(SnapshotRules rules, size_t most_functions = Budget::kFunctions)
      : EntryWatch(std::move(rules.functions), &FunctionTraits::snapshot, most_functions),
        most_bytes_(rules.bytes),
        most_ticks_(rules.ticks),
        takes_the_end_(rules.takes_the_end) {}

  // Takes a chunk that `sink` has scanned and described. A chunk that was started before the last snapshot was due is
  // stored at once.
  void keep(RecordingWriter& writer, const std::shared_ptr<ChunkSink>& sink, std::span<const uint8_t> chunk,
            const ChunkSummary& summary);
  // The process of `sink` has ended: its end is written with the last of its chunks.
  void ended(RecordingWriter& writer, const std::shared_ptr<ChunkSink>& sink);
  // As if such a function had been entered.
  void ask(uint64_t ticks) { entered(0, 0, ticks); }
  // Stores what is kept, if such a function was entered since the last time. The caller stores chunks that are still
  // being filled.
  bool take_snapshot_if_due(RecordingWriter& writer);
  bool wants(const penna_chunk& chunk) const { return chunk.time_begin <= due_time_; }
  // No more chunks come, and the recording ends at `ticks`: what is kept is stored, or thrown away.
  void end(RecordingWriter& writer, uint64_t ticks);

  uint64_t snapshots() const { return snapshots_; }
  uint64_t bytes() const { return bytes_; }

  using EntryWatch::ended;

 private:
  struct Kept {
    std::shared_ptr<ChunkSink> sink;
    std::vector<uint8_t> chunk;
    ChunkSummary summary;
    uint64_t bytes() const { return chunk.size() + sizeof(Kept) + 64; }
  };
  void entered(uint32_t process, uint64_t pc, uint64_t ticks) override;
  Kept take_oldest();
  bool is_too_old(const Kept& kept) const;
  void throw_oldest_away(RecordingWriter& writer);
  void store_oldest(RecordingWriter& writer);
  void store_kept(RecordingWriter& writer);
  void release(RecordingWriter& writer, const std::shared_ptr<ChunkSink>& sink);

  uint64_t most_bytes_, most_ticks_;
  bool takes_the_end_;
  uint64_t newest_ = 0;    // time of all records that came, in ticks
  std::deque<Kept> kept_;  // oldest first
  uint64_t bytes_ = 0;
  bool due_ = false;
  uint64_t due_time_ = 0;  // when such a function was last entered, in ticks
  uint64_t snapshots_ = 0;
  // For one process: how many of its chunks are kept, and whether it has ended.
  struct Share {
    uint64_t chunks = 0;
    bool ended = false;
  };
  std::map<const ChunkSink*, Share> shares_;  // of sinks with chunks here
};

}  // namespace penna
