// SPDX-License-Identifier: MIT
// ChannelMap: the collector's view of one process's channel (penna/channel.h).
//
// Why a type: the target can write anything into this memory at any time. Everything that says where things are is
// copied once and checked; only the copy is used. Invariant: all accessors stay inside the mapping, whatever the target
// does.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <utility>

#include "base/fd.h"
#include "base/result.h"
#include "penna/channel.h"

namespace penna {

class ChannelMap {
 public:
  // Maps the memfd that a target sent. Fails unless its size is sealed and its geometry adds up.
  // `asked`: what the recorder asked for; one that has more chunks or nodes is refused.
  static Result<ChannelMap> map(const Fd& memory, const penna_config* asked = nullptr);

  // Which file it is: one that is handed over twice is the same.
  using FileId = std::pair<dev_t, ino_t>;
  FileId file() const { return file_; }

  const penna_channel& geometry() const { return geometry_; }  // trusted copy; its shared parts are stale
  penna_counters counters() const;                             // a snapshot of the live ones, bounded
  uint64_t start_cost_ticks() const;                           // 0 until the agent has started
  bool calls_at_once() const;                                  // all until now (penna_channel)
  uint64_t start_cpu_ns() const;                               // processor time used until then; 0: not known
  uint64_t record_cost_ticks() const;                          // of PENNA_COST_RECORDS; 0: not measured

  // The number of the next full chunk, or false. The number may be out of range: check it.
  bool next_full_chunk(uint32_t* chunk_untrusted);

  // True when the word at this offset of a chunk that is being filled is not zero: there is more than `bytes`.
  bool has_more(uint32_t chunk, size_t bytes) const {
    return bytes + sizeof(uint64_t) <= PENNA_CHUNK_BYTES &&
           __atomic_load_n(reinterpret_cast<const uint64_t*>(chunk_data(chunk) + bytes / 8 * 8), __ATOMIC_RELAXED) != 0;
  }
  // Copies as much of a chunk as has been written into `to` (PENNA_CHUNK_BYTES); returns the bytes copied, 0 for a
  // chunk that was never opened.
  size_t copy_chunk(uint32_t chunk, uint8_t* to) const;
  // The same of a chunk that a thread may be writing at this moment: up to its first record that is not committed.
  size_t copy_committed(uint32_t chunk, uint8_t* to) const;

  // Zeroes the first `bytes` of a chunk and gives it back to the target. `was_full`: it came through the ring.
  void free_chunk(uint32_t chunk, size_t bytes, bool was_full);

  // The same of one that came through the ring and was never opened: what a liar has not touched takes no memory
  // afterwards, either.
  void free_unopened(uint32_t chunk);

  bool is_free(uint32_t chunk) const;
  // Is there a header? A look at a chunk that nobody has touched makes the kernel allocate its first page.
  bool is_opened(uint32_t chunk) const;
  penna_chunk header(uint32_t chunk) const;
  uint32_t free_chunks() const;

  // The next thing that the target has told of what it starts: untrusted but for the size of its path. `gone`: it does
  // not write any more, and what it had begun to tell is passed over.
  bool next_start(bool gone, penna_start* start);
  uint64_t starts_unreported() const;  // bounded

  // Number of stack nodes handed out so far, at most max_nodes.
  uint32_t node_count() const;
  // A copy of a node; pc_generation == 0 when it is not there (yet).
  penna_stack_node node(uint32_t id) const;
  // Their pages are no more this process's than before it looked at them; they stay the target's.
  void let_go_of_nodes(uint32_t first, uint32_t end) const;

 private:
  uint8_t* at(uint64_t offset) const { return memory_.data() + offset; }
  uint8_t* chunk_data(uint32_t chunk) const;
  penna_start_counts* start_counts() const { return reinterpret_cast<penna_start_counts*>(at(PENNA_START_COUNTS_AT)); }
  penna_channel* shared() const { return reinterpret_cast<penna_channel*>(memory_.data()); }

  Mapping memory_;
  FileId file_{};
  penna_channel geometry_{};
  uint32_t ring_slots_ = 0;
  uint32_t starts_read_ = 0;
};

}  // namespace penna
