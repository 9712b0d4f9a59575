// SPDX-License-Identifier: MIT
// CallDigest: what a reader must know of the calls in chunks of a thread that are thrown away, to understand those that
// are stored.
//
// Why: a flight recorder stores a chunk here and there. Calls that are open where a stored part begins were entered
// before it, and calls that were open where the last one ended were left since.
// Invariant: a call is in the file with its entry and its exit or not at all, and both with the times that they had.
// (Where a thread leaves its stack for another one, swapcontext, while chunks are thrown away, what is open there
// ends.)
// Memory: the open calls, at most kMaxDepth, and an exit for each that is in the file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "penna/channel.h"
#include "recording/call_stacks.h"
#include "recording/records.h"

namespace penna {

class CallDigest {
 public:
  static constexpr size_t kMaxDepth = 1 << 20;  // calls further in are not looked at

  // The next chunk of the thread; or the next record.
  void add(std::span<const uint8_t> chunk, bool is_stored);
  void add(const Record& record, bool is_stored);
  // Calls that were open before the thread's first record, outermost first.
  void inherit(std::span<const uint64_t> pcs);
  std::vector<uint64_t> open_calls() const;  // of the running stack, outermost first
  // Chunks are missing here, or do not come in order: of what is open nobody knows whether it still is.
  void lose();
  // There is no room for what is open.
  void forget();
  size_t bytes() const;
  // Chunks to be stored in front of `next`, with the numbers before its own: exits of what was left since the last
  // stored chunk, then entries of what is open. At most `most` of them: what has no room is left out, the innermost
  // first.
  std::vector<std::vector<uint8_t>> take(const penna_chunk& next, uint64_t most);
  // The same at the end of the thread: exits only. `last`: of its last chunk.
  std::vector<std::vector<uint8_t>> take_exits(const penna_chunk& last, uint64_t most);

 private:
  enum class State : uint8_t {
    kOut,
    kStored,
    kEnded
  };  // not in the file; its entry is; its exit is, too, made up by us
  struct Open {
    uint64_t pc, begin;
    State state;
  };
  struct Told {
    uint32_t kind;
    uint64_t pc, time;
  };
  void call(const Record& record, bool is_stored);
  void jump(const penna_jump& jump, bool is_stored);
  void pop(bool is_stored);
  void end_stored();
  static std::vector<std::vector<uint8_t>> make_chunks(const penna_chunk& next, const std::vector<Told>& told,
                                                       uint64_t most);

  std::vector<Open> stack_;
  CallStacks<Open> stacks_;
  std::vector<Told> exits_;
  uint64_t beyond_ = 0;
  uint64_t now_ = 0;
};

}  // namespace penna
