// SPDX-License-Identifier: MIT
// ChunkSink: writes copies of one process's chunks into a recording, together with their descriptions and counts.
//
// Invariant: descriptions (modules, sites, names) are written before the chunk that they came from; every record of a
// stored chunk is counted once, for its thread. If chunks may be discarded, a call is still in the file as a whole or
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

// For one process, or for all.
struct StoreCounts {
  std::array<uint64_t, PENNA_CLASS_COUNT> stored{}, thrown_away{};  // events
  uint64_t call_entries = 0;                                        // stored
  uint64_t chunks = 0, raw_bytes = 0, torn = 0;                     // of what was stored
};

class ChunkSink {
 public:
  // `counts`: may be shared by several processes; null: its own. `partly`: chunks may be discarded.
  explicit ChunkSink(uint32_t process, std::shared_ptr<StoreCounts> counts = nullptr, bool partly = false,
                     std::shared_ptr<Budget> budget = nullptr)
      : process_(process),
        partly_(partly),
        counts_(counts ? std::move(counts) : std::make_shared<StoreCounts>()),
        share_(std::move(budget)) {}

  // See Session::time_shift. Call before the first chunk.
  void set_time_shift(uint32_t shift) { time_shift_ = shift; }
  // Examines every record of a chunk (copied memory of at least a penna_chunk), and keeps descriptions until store() or
  // forget().
  ChunkSummary scan(std::span<const uint8_t> chunk);
  // The same, and rounds times to multiples of 2^time_shift ticks, including those of the header.
  ChunkSummary round_and_scan(std::span<uint8_t> chunk);
  bool has_descriptions() const {
    return !modules_.empty() || !sites_.empty() || !threads_.empty();
  }  // of the chunk that was scanned
  void forget();
  // Does describe() and write(). The writer remembers write errors.
  void store(RecordingWriter& writer, std::span<const uint8_t> chunk, const ChunkSummary& summary);
  // Writes what the scanned chunk describes.
  void describe(RecordingWriter& writer, std::span<const uint8_t> chunk);
  // Each described chunk is then stored or discarded, those of a thread in order.
  void write(RecordingWriter& writer, std::span<const uint8_t> chunk, const ChunkSummary& summary);
  void discard(std::span<const uint8_t> chunk, const ChunkSummary& summary);

  // Call before storing a scanned piece of a chunk that is still being filled: writes what it describes. The caller
  // stores the piece; nothing is counted, as the whole chunk will come.
  void describe_open(RecordingWriter& writer, const penna_chunk& header);
  // Whether all earlier chunks of its thread were stored or discarded.
  bool is_next(const penna_chunk& header) {
    return header.sequence == share_.state_of(parts_, header.thread_serial)->second.next;
  }
  // A scanned copy of such a chunk, into a file that ends here: the chunk itself goes elsewhere, or is discarded.
  void write_copy(RecordingWriter& writer, std::span<const uint8_t> chunk, const ChunkSummary& summary);
  // What comes next goes into another file, which has nothing of what came before. The counts of what was stored begin
  // anew, those of losses do not.
  void begin_file();

  // By thread serial; 0 means no thread, and all threads beyond the budget. The caller fills in what store() does not
  // count.
  Health& health(uint32_t serial) { return share_.state_of(health_, serial)->second; }
  size_t threads() const { return health_.size(); }  // whose health is kept
  // What was described so far, as far as the budget allows.
  const std::vector<Module>& modules() const { return all_modules_; }
  const std::map<uint32_t, Site>& sites() const { return all_sites_; }  // by id
  void write_health(RecordingWriter& writer);
  // No more chunks come: writes the remaining call digests, and the health.
  void finish(RecordingWriter& writer);

  uint32_t process() const { return process_; }
  const StoreCounts& counts() const { return *counts_; }

 private:
  // A thread whose chunks are not all in the file.
  struct Part {
    CallDigest calls;
    penna_chunk last{};     // header of its last chunk
    uint64_t next = 0;      // its sequence number + 1
    uint64_t left_out = 0;  // earlier chunks that are not in the file
    size_t weight = 0;      // in the budget
  };
  void keep(std::span<const uint8_t> chunk, const Record& record);
  void write_descriptions(RecordingWriter& writer);
  void remember();
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
  std::map<uint32_t, Health> health_;  // by thread serial
  std::vector<Module> modules_;        // of the current chunk, not written yet
  std::vector<Site> sites_;
  std::vector<Thread> threads_;
  std::vector<Module> all_modules_;  // for filters that are set later
  std::map<uint32_t, Site> all_sites_;
  size_t all_bytes_ = 0, all_weight_ = 0;           // of both; in the budget
  std::array<uint64_t, PENNA_CLASS_COUNT> lost_{};  // as in LOST and BLOCKED records of the current chunk
  uint64_t blocked_ticks_ = 0;
};

}  // namespace penna
