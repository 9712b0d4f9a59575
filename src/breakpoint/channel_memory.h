// SPDX-License-Identifier: MIT
// ChannelMemory: the channel of a process without an agent, made by its tracer (penna/channel.h).
//
// Why the same channel: the recorder drains, checks and stores it like any process's, so there is one format.
// Invariant: once this exists, the recorder has admitted the process, and does not consider the channel complete until
// this is destroyed. Used by one thread of ours.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "penna/channel.h"

namespace penna {

// The process for which a channel is made.
struct ChannelOwner {
  pid_t pid = 0;
  pid_t parent = 0;
  bool is_program = true;    // else a fork of `parent`
  uint32_t forked_by = 0;    // serial of the thread that forked, in the parent's channel
  uint64_t fork_ticks = 0;   // when
  uint64_t start_ticks = 0;  // when we reached it
};

class ChannelMemory {
 public:
  // The error is a sentence: the recorder is gone, or refuses the process.
  static Result<ChannelMemory> connect(const std::string& socket_path, const ChannelOwner& owner);

  const penna_config& config() const { return config_; }
  penna_channel& head() { return *reinterpret_cast<penna_channel*>(memory_.data()); }
  bool recorder_alive() const;
  // Announces a started process that will connect to the recorder.
  void expect_process();

  // Takes a free chunk; empty if there is none: a caller that may not wait drops the event. In the chunks' bitmap, only
  // we clear bits and only the collector sets them.
  std::optional<uint32_t> take_chunk();
  // Sleeps until chunks have come back, 50 ms at most. The traced thread is stopped meanwhile, so this is where
  // --on-full=block holds the program.
  void wait_for_room();
  penna_chunk* chunk(uint32_t number) {
    return reinterpret_cast<penna_chunk*>(memory_.data() + plan_.chunks_at + uint64_t{number} * PENNA_CHUNK_BYTES);
  }
  // Its header is complete: passes it to the collector.
  void hand_over(uint32_t number);
  penna_stack_node* node(uint32_t id) {
    return reinterpret_cast<penna_stack_node*>(memory_.data() + plan_.nodes_at) + id;
  }

 private:
  ChannelMemory() = default;
  bool make(const ChannelOwner& owner, Fd* file);
  bool is_backlogged();
  void ring();

  penna_config config_{};
  // Our copy of what we wrote into the head: the recorder may write to the shared one, and we rely on none of it.
  penna_channel plan_{};
  Mapping memory_, doorbell_, life_;
  Fd connection_;  // as long as it is open, the recorder waits for more, even if the process has ended
};

}  // namespace penna
