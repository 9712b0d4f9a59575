// SPDX-License-Identifier: MIT
// CallDigest: what a reader must know about the calls in a thread's discarded chunks to understand the stored ones.
//
// Why: a flight recorder stores a chunk here and there. Calls that are open where a stored part begins were entered
// before it; calls that were open where the previous part ended have returned since.
// Invariant: either both entry and exit of a call are in the file, with their original times, or neither. (If a thread
// switches to another stack, swapcontext, while chunks are discarded, the calls open there end.)
// Memory: the open calls, at most kMaxDepth, and one exit for each that is in the file.
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
  static constexpr size_t kMaxDepth = 1 << 20;  // deeper calls are ignored

  // The thread's next chunk, or its next record.
  void add(std::span<const uint8_t> chunk, bool is_stored);
  void add(const Record& record, bool is_stored);
  // Calls that were open before the thread's first record, outermost first.
  void inherit(std::span<const uint64_t> pcs);
  std::vector<uint64_t> open_calls() const;  // of the running stack, outermost first
  // Chunks are missing here or out of order: whether the open calls are still open is unknown.
  void lose();
  // What comes next goes into another file, which has nothing of what came before.
  void begin_file();
  // No room for the open calls.
  void forget();
  size_t bytes() const;
  // Chunks to store before `next`, numbered before it: exits of the calls that returned since the last stored chunk,
  // then entries of the open ones. At most `most` chunks; what does not fit is left out, innermost calls first.
  std::vector<std::vector<uint8_t>> take(const penna_chunk& next, uint64_t most);
  // The same at the end of the thread: exits only. `last`: the thread's last chunk.
  std::vector<std::vector<uint8_t>> take_exits(const penna_chunk& last, uint64_t most);

 private:
  enum class State : uint8_t {
    kOut,
    kStored,
    kEnded
  };  // not in the file; entry in the file; exit in the file too, synthesized
  struct Open {
    uint64_t pc, begin;
    State state;
  };
  struct Entry {
    uint32_t kind;
    uint64_t pc, time;
  };
  void call(const Record& record, bool is_stored);
  void jump(const penna_jump& jump, bool is_stored);
  void pop(bool is_stored);
  void end_stored();
  static std::vector<std::vector<uint8_t>> make_chunks(const penna_chunk& next, const std::vector<Entry>& entries,
                                                       uint64_t most);

  std::vector<Open> stack_;
  CallStacks<Open> stacks_;
  std::vector<Entry> exits_;
  uint64_t beyond_ = 0;
  uint64_t now_ = 0;
};

}  // namespace penna
