// SPDX-License-Identifier: MIT
// ChannelWriter: writes the records of a traced process's threads into its channel, as an agent would.
//
// Invariant: a record is committed by the release store of its header, after all of its words; records without room are
// counted. Times are ticks of penna_now(), and never decrease within a thread. Used by one thread of ours.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "breakpoint/channel_memory.h"
#include "penna/event.h"

namespace penna {

// The records of one thread.
struct ThreadLog {
  uint32_t tid = 0;
  uint32_t serial = 0;  // 0: it has recorded nothing yet
  penna_chunk* chunk = nullptr;
  uint32_t number = 0;  // of the chunk
  uint32_t used = 0;    // bytes of it
  // Number of the next chunk; events lost so far, as in CTF's packet headers.
  uint64_t sequence = 0, discarded = 0;
  std::array<uint32_t, PENNA_CLASS_COUNT> lost{};  // not reported yet
};

class ChannelWriter {
 public:
  explicit ChannelWriter(ChannelMemory channel) : channel_(std::move(channel)) {}

  ChannelMemory& channel() { return channel_; }
  const penna_config& config() const { return channel_.config(); }
  bool records(penna_event_class what) const { return (config().classes & (1u << what)) != 0; }

  // `pc`: start of the function.
  void write_call(ThreadLog& log, penna_tag tag, uint64_t pc, uint64_t time);
  // `tail`: bytes after the payload, padded to words. False: the record was lost, and counted.
  template <typename Payload>
  bool write(ThreadLog& log, penna_kind kind, const Payload& payload, penna_event_class event_class, uint64_t time,
             std::span<const uint8_t> tail = {}) {
    static_assert(sizeof(Payload) % 8 == 0);
    return write_bytes(log, kind, {reinterpret_cast<const uint8_t*>(&payload), sizeof payload}, tail, event_class,
                       time);
  }
  // The thread is gone, or the recording ends: passes what it has written to the collector.
  void close(ThreadLog& log);

  // The node for `pc` with the caller's stack `caller`, a node or 0. 0: the tree is full. `end`: how the walk ended, if
  // `caller` is 0.
  uint32_t stack_node(uint32_t caller, uint64_t pc, penna_stack_end end);
  // Events of this process that were lost before they came to us.
  void count_lost(penna_event_class event_class, uint64_t count);
  void count_truncated(penna_stack_end end);
  void count_tree_full();
  void next_generation() { ++generation_; }
  uint32_t generation() const { return generation_; }
  void set_pc_high(uint64_t pc) { pc_high_ = static_cast<uint32_t>(pc >> 32); }

 private:
  bool write_bytes(ThreadLog& log, penna_kind kind, std::span<const uint8_t> payload, std::span<const uint8_t> tail,
                   penna_event_class event_class, uint64_t time);
  uint64_t* reserve(ThreadLog& log, uint32_t words, penna_event_class event_class, uint64_t time);
  bool open_chunk(ThreadLog& log, uint64_t time);
  void write_notes(ThreadLog& log, bool is_new, uint64_t time);
  void lose(ThreadLog& log, penna_event_class event_class);

  struct NodeKey {
    uint64_t pc_generation;
    uint64_t parent_flags;
    bool operator==(const NodeKey&) const = default;
  };
  struct NodeHash {
    size_t operator()(const NodeKey& key) const {
      return (key.pc_generation ^ key.parent_flags * 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd >> 16;
    }
  };
  ChannelMemory channel_;
  // By node and parent: the channel's own table of stacks is for agents, whose threads find nodes without a lock.
  std::unordered_map<NodeKey, uint32_t, NodeHash> nodes_;
  uint32_t generation_ = 0, pc_high_ = 0, next_serial_ = 0;
};

}  // namespace penna
