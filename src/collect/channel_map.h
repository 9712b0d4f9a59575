// SPDX-License-Identifier: MIT
// ChannelMap: the collector's view of one process's channel (penna/channel.h).
//
// Why a type: the target can write anything into this memory at any time. Everything that says where things are is
// copied once and checked; only the copy is used.
// Invariant: all accessors stay inside the mapping, whatever the target does.
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
  // Maps the memfd that a target sent, and keeps a descriptor of it. Fails unless its size is sealed and its geometry
  // is consistent. `asked`: the recorder's configuration; a channel with more chunks or nodes is refused.
  static Result<ChannelMap> map(const Fd& memory, const penna_config* asked = nullptr);

  // Identifies the file: a channel that is handed over twice has the same id.
  using FileId = std::pair<dev_t, ino_t>;
  FileId file() const { return file_; }

  const penna_channel& geometry() const { return geometry_; }  // trusted copy; its shared parts are stale
  penna_counters counters() const;                             // a snapshot of the live ones, bounded
  uint64_t start_cost_ticks() const;                           // 0 until the agent has started
  uint32_t descriptions() const;                               // penna_channel: read it after a chunk was taken
  uint32_t backlog_untrusted() const;                          // full chunks that wait to be taken
  bool calls_at_once() const;                                  // true for all calls so far (penna_channel)
  uint64_t start_cpu_ns() const;                               // processor time used until then; 0: unknown
  uint64_t record_cost_ticks() const;                          // of PENNA_COST_RECORDS; 0: not measured

  // Gets the number of the next full chunk; false if there is none. The number may be out of range: check it.
  bool next_full_chunk(uint32_t* chunk_untrusted);

  // Whether the word at this offset of a chunk being filled is nonzero, i.e. the chunk has more than `bytes`.
  bool has_more(uint32_t chunk, size_t bytes) const {
    return bytes + sizeof(uint64_t) <= PENNA_CHUNK_BYTES &&
           __atomic_load_n(reinterpret_cast<const uint64_t*>(chunk_data(chunk) + bytes / 8 * 8), __ATOMIC_RELAXED) != 0;
  }
  // Copies what has been written of a chunk into `to` (PENNA_CHUNK_BYTES); returns the number of bytes, 0 for a chunk
  // that was never opened.
  size_t copy_chunk(uint32_t chunk, uint8_t* to) const;
  // The same for a chunk that a thread may be writing: up to its first record that is not committed.
  size_t copy_committed(uint32_t chunk, uint8_t* to) const;

  // Zeroes the first `bytes` of a chunk and returns it to the target. `was_full`: it came through the ring.
  void free_chunk(uint32_t chunk, size_t bytes, bool was_full);

  // The same for a chunk that lacks content it claims: its pages go back to the kernel, including those that exist only
  // because we read them.
  void free_pages(uint32_t chunk, bool was_full);

  bool is_free(uint32_t chunk) const;
  // Whether there is a header. A system call, because the kernel allocates a page that was never written when it is
  // read through a mapping, but not when it is read from the file: chunks that a target claims without touching them
  // must not cost memory.
  bool is_opened(uint32_t chunk) const;
  penna_chunk header(uint32_t chunk) const;
  uint32_t free_chunks() const;

  // The target's next report of a program that it starts: untrusted except for the size of its path. `gone`: the target
  // does not write any more, and unfinished reports are skipped.
  bool next_start(bool gone, penna_start* start);
  uint64_t starts_unreported() const;  // bounded

  // The number of stack nodes so far, at most max_nodes.
  uint32_t node_count() const;
  // A copy of a node; pc_generation == 0: absent (so far).
  penna_stack_node node(uint32_t id) const;
  // Unmaps these nodes' pages from our process; the target's view does not change.
  void unmap_nodes(uint32_t first, uint32_t end) const;

 private:
  uint8_t* at(uint64_t offset) const { return memory_.data() + offset; }
  uint64_t chunk_at(uint32_t chunk) const;
  uint8_t* chunk_data(uint32_t chunk) const { return at(chunk_at(chunk)); }
  penna_start_counts* start_counts() const { return reinterpret_cast<penna_start_counts*>(at(PENNA_START_COUNTS_AT)); }
  penna_channel* shared() const { return reinterpret_cast<penna_channel*>(memory_.data()); }

  Mapping memory_;
  Fd descriptor_;  // of the same memory
  FileId file_{};
  penna_channel geometry_{};
  uint32_t ring_slots_ = 0;
  uint32_t starts_read_ = 0;
};

}  // namespace penna
