// SPDX-License-Identifier: MIT
// ChannelMemory: the channel of a process that has no agent, made by whoever traces it (penna/channel.h).
//
// Why the same channel: the recorder drains, checks and stores it as that of any process, so there is one format.
// Invariant: the recorder has admitted the process once this exists. By one thread of ours.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"
#include "penna/channel.h"

namespace penna {

// For whom a channel is made.
struct ChannelOwner {
  pid_t pid = 0;
  pid_t parent = 0;
  bool is_program = true;    // else a fork of `parent`
  uint32_t forked_by = 0;    // serial of the thread that forked, in its parent's channel
  uint64_t fork_ticks = 0;   // when
  uint64_t start_ticks = 0;  // when we came to it
};

class ChannelMemory {
 public:
  // Error, as a sentence: the recorder is gone, or does not want the process.
  static Result<ChannelMemory> meet(const std::string& socket_path, const ChannelOwner& owner);

  const penna_config& config() const { return config_; }
  penna_channel& head() { return *reinterpret_cast<penna_channel*>(memory_.data()); }
  bool recorder_alive() const;
  // A process has been started that will meet the recorder.
  void expect_process();

  // Takes a free chunk; nothing: there is none, and whoever may not wait drops the event.
  // Of the chunks' bitmap, only we clear bits and only the collector sets them.
  std::optional<uint32_t> take_chunk();
  // Sleeps until chunks have come back, 50 ms at most.
  // The traced thread is stopped meanwhile, so this is where --on-full=block holds the program.
  void wait_for_room();
  penna_chunk* chunk(uint32_t number) {
    return reinterpret_cast<penna_chunk*>(memory_.data() + plan_.chunks_at + uint64_t{number} * PENNA_CHUNK_BYTES);
  }
  // Its header is complete: the collector takes it.
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
  // What we have written into the head, kept here: the recorder may write to its copy, and we rely on none of it.
  penna_channel plan_{};
  Mapping memory_, doorbell_, life_;
};

}  // namespace penna
