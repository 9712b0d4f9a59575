// SPDX-License-Identifier: MIT
// ChunkSink: where copies of the chunks of one process go into a recording, with what they describe and what is
// counted.
//
// Invariant: what describes (modules, sites, names) is written before the chunk that it came from; every record of a
// stored chunk is counted once, for its thread. Where chunks may be thrown away, calls still are in the file whole or
// not at all.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "collect/budget.h"
#include "recording/call_digest.h"
#include "recording/records.h"
#include "recording/types.h"
#include "recording/writer.h"

namespace penna {

// Of one process, or of all.
struct StoreCounts {
  std::array<uint64_t, PENNA_CLASS_COUNT> stored{}, thrown_away{};  // events
  uint64_t chunks = 0, raw_bytes = 0, torn = 0;                     // of what was stored
};

class ChunkSink {
 public:
  // `counts`: may be those of several processes; null: its own. `partly`: chunks may be thrown away.
  explicit ChunkSink(uint32_t process, std::shared_ptr<StoreCounts> counts = nullptr, bool partly = false,
                     std::shared_ptr<Budget> budget = nullptr)
      : process_(process),
        partly_(partly),
        counts_(counts ? std::move(counts) : std::make_shared<StoreCounts>()),
        share_(std::move(budget)) {}

  // Of Session::time_shift. Before the first chunk.
  void set_time_shift(uint32_t shift) { time_shift_ = shift; }
  // Looks at every record of a chunk, which is copied memory of at least a penna_chunk, and keeps what describes until
  // store() or forget().
  ChunkSummary scan(std::span<const uint8_t> chunk);
  // The same; and times become multiples of 2^time_shift ticks, those of the header, too.
  ChunkSummary round_and_scan(std::span<uint8_t> chunk);
  bool has_descriptions() const {
    return !modules_.empty() || !sites_.empty() || !threads_.empty();
  }  // of the chunk that was scanned
  void forget();
  // Writing errors are the writer's to remember. It is describe() and write().
  void store(RecordingWriter& writer, std::span<const uint8_t> chunk, const ChunkSummary& summary);
  // What the chunk that was scanned describes.
  void describe(RecordingWriter& writer, std::span<const uint8_t> chunk);
  // Chunks that were described; each goes one of these ways, those of a thread in their order.
  void write(RecordingWriter& writer, std::span<const uint8_t> chunk, const ChunkSummary& summary);
  void throw_away(std::span<const uint8_t> chunk, const ChunkSummary& summary);

  // In front of a piece of a chunk that is still being filled, which was scanned: writes what it describes. The piece
  // is the caller's to store; nothing is counted, as the whole chunk will come.
  void describe_open(RecordingWriter& writer, const penna_chunk& header);

  // Of a thread by serial; 0 = of none, and of those beyond the budget. What store() does not count is the caller's to
  // fill in.
  Health& health(uint32_t serial) { return share_.state_of(health_, serial)->second; }
  size_t threads() const { return health_.size(); }  // whose health is kept
  void write_health(RecordingWriter& writer);
  // No chunk comes any more: writes what is still to be said of calls, and the health.
  void finish(RecordingWriter& writer);

  uint32_t process() const { return process_; }
  const StoreCounts& counts() const { return *counts_; }

 private:
  // Of a thread whose chunks are not all in the file.
  struct Part {
    CallDigest calls;
    penna_chunk last{};     // header of its last chunk
    uint64_t next = 0;      // its number and one
    uint64_t left_out = 0;  // numbers in front of it that are not in the file
    size_t weight = 0;      // in the budget
  };
  void keep(std::span<const uint8_t> chunk, const Record& record);
  void write_descriptions(RecordingWriter& writer);
  void count(std::span<const uint8_t> chunk, const ChunkSummary& summary);
  void follow(std::span<const uint8_t> chunk, bool is_stored);
  void catch_up(RecordingWriter& writer, const penna_chunk& header);
  uint64_t write_digests(RecordingWriter& writer, const std::vector<std::vector<uint8_t>>& chunks);

  uint32_t process_;
  bool partly_;
  uint32_t time_shift_ = 0;
  std::shared_ptr<StoreCounts> counts_;
  Budget::Share share_;
  std::map<uint32_t, Part> parts_;     // by thread serial
  std::map<uint32_t, Health> health_;  // the same
  std::vector<Module> modules_;        // met in the current chunk, not yet written
  std::vector<Site> sites_;
  std::vector<Thread> threads_;
  std::array<uint64_t, PENNA_CLASS_COUNT> lost_{};  // told by LOST and BLOCKED records of the current chunk
  uint64_t blocked_ticks_ = 0;
};

}  // namespace penna
