// SPDX-License-Identifier: MIT
// FlightRecorder: keeps the newest chunks of all processes in memory, and stores them when a function is entered, a
// condition is met (condition_watch.h), on request, or when the recording ends: in the recording, or each time in a
// file of its own.
//
// Why an observer: it sees each record once, in time (entry_watch.h).
// Invariant: the chunks that it keeps take at most `bytes`, and kMostLater more while a file of its own is due,
// whatever targets do; each is stored or counted as discarded. A chunk that begins after a snapshot's cause is no part
// of it, except in a file of its own.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collect/chunk_sink.h"
#include "collect/entry_watch.h"

namespace penna {

// What a snapshot was taken for.
struct SnapshotCause {
  std::string text;  // a sentence's beginning: "wait > 100ms: thread 12 of process 7 waited 1.2 s"
  uint64_t ticks = 0;
  bool is_asked = false;  // by the user, now: never too soon
};

// Where snapshots go that are files of their own.
struct SnapshotFiles {
  // A new file with its session. Called on the collector's thread, like the other.
  std::function<Result<RecordingWriter>()> create;
  // Everything is in the file but its recorder's health and its end, which the receiver writes: it may take its time
  // for names, on another thread.
  std::function<void(RecordingWriter file, CollectorHealth health)> take;
};

// The options of penna record -T FUNC@snapshot, --ring, --keep and --on.
struct SnapshotRules {
  CallRules functions;         // FunctionTraits::snapshot marks them; the rest of the rules is ignored. No `ask`: none
  uint64_t bytes = 0;          // of memory, at most; 0: no flight recorder
  uint64_t ticks = 0;          // of time, at least, as far as the bytes allow; 0: no limit
  bool takes_the_end = false;  // the end of the recording triggers one, too
  SnapshotFiles files;         // empty: the recording is where they are stored
  uint64_t again_ticks = 0;    // a cause so soon after the last snapshot is counted, and there is none
};

// One per recording; all on the collector's thread.
class FlightRecorder final : public EntryWatch {
 public:
  // `most_functions`: of all processes, how many functions are remembered with their traits.
  explicit FlightRecorder(SnapshotRules rules, size_t most_functions = Budget::kFunctions)
      : EntryWatch(std::move(rules.functions), &FunctionTraits::snapshot, most_functions),
        most_bytes_(rules.bytes),
        most_ticks_(rules.ticks),
        takes_the_end_(rules.takes_the_end),
        own_files_(rules.files.create != nullptr),
        again_ticks_(rules.again_ticks) {}

  static constexpr uint64_t kMostLater = 64 << 20;

  // Takes a chunk that `sink` has scanned and described. A chunk that was started before the last snapshot was due is
  // stored at once.
  void keep(RecordingWriter& writer, const std::shared_ptr<ChunkSink>& sink, std::span<const uint8_t> chunk,
            const ChunkSummary& summary);
  // The process of `sink` has ended: its end is written with the last of its chunks.
  void ended(RecordingWriter& writer, const std::shared_ptr<ChunkSink>& sink);
  // As if such a function had been entered.
  void ask(SnapshotCause cause);
  bool is_due() const { return due_; }
  const SnapshotCause& cause() const { return cause_; }  // of the snapshot that is due, or was last
  // Stores what is kept from before, if such a function was entered since the last time. The caller stores chunks that
  // are still being filled.
  bool take_snapshot_if_due(RecordingWriter& writer);
  // Whether the chunk, which came later, belongs to the last snapshot. A file of its own has had a copy.
  bool wants(const penna_chunk& chunk) const { return !own_files_ && chunk.time_begin <= due_time_; }
  // No more chunks come, and the recording ends at `ticks`: what is kept is stored, or thrown away.
  void end(RecordingWriter& writer, uint64_t ticks);

  // For a snapshot in a file of its own: what is too old for it is discarded, the rest is stored there.
  void store_in(RecordingWriter& file, RecordingWriter& elsewhere);
  // It could not be written: what is kept stays.
  void could_not_store();
  // Processes that have ended, and of which no chunk is kept any more; each is reported once, by its number.
  std::vector<uint32_t> take_gone() { return std::exchange(gone_, {}); }

  bool takes_the_end() const { return takes_the_end_; }
  uint64_t snapshots() const { return snapshots_; }
  uint64_t suppressed() const { return suppressed_; }  // causes that came too soon after a snapshot
  uint64_t bytes() const { return bytes_; }

  using EntryWatch::ended;

 private:
  struct Kept {
    std::shared_ptr<ChunkSink> sink;
    std::vector<uint8_t> chunk;
    ChunkSummary summary;
    uint64_t bytes() const { return chunk.size() + sizeof(Kept) + 64; }
  };
  void entered(const Entry& entry) override { ask({"a function of -T FUNC@snapshot was entered", entry.ticks}); }
  Kept take_oldest();
  bool is_too_old(const Kept& kept) const;
  void throw_oldest_away(RecordingWriter& writer);
  void store_oldest(RecordingWriter& writer);
  void store_due(RecordingWriter& writer);
  void release(RecordingWriter& writer, const std::shared_ptr<ChunkSink>& sink);
  void end_of_process(RecordingWriter& writer, ChunkSink& sink);

  uint64_t most_bytes_, most_ticks_;
  bool takes_the_end_, own_files_;
  uint64_t again_ticks_;
  uint64_t newest_ = 0;    // time of all records that came, in ticks
  std::deque<Kept> kept_;  // oldest first
  uint64_t bytes_ = 0;
  bool due_ = false;
  uint64_t due_time_ = 0;  // when such a function was last entered, in ticks
  SnapshotCause cause_;
  uint64_t snapshots_ = 0, suppressed_ = 0;
  // For one process: how many of its chunks are kept, and whether it has ended.
  struct Share {
    uint64_t chunks = 0;
    bool ended = false;
  };
  std::map<const ChunkSink*, Share> shares_;  // of sinks with chunks here
  std::vector<uint32_t> gone_;
};

}  // namespace penna
