// SPDX-License-Identifier: MIT
// Walks the stack of a stopped thread of another process, by the unwind information of its modules and a copy of the
// stack.
//
// Invariant: only reads; each step leads further out, and the number of steps is bounded.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "breakpoint/traced_module.h"
#include "penna/channel.h"
#include "reach/process/remote_memory.h"

namespace penna {

// A thread's stack, copied on demand.
class StackCopy {
 public:
  // One copy per stop: the thread is stopped, but others may write to its stack.
  StackCopy(const RemoteMemory& memory, RemoteBytes from) : memory_(memory), from_(aligned_down(from, 8)) {}
  // False: the address is below, far above, or unmapped.
  bool word(RemotePtr<uint64_t> at, uint64_t* value);

 private:
  bool copy_until(RemoteBytes end);
  const RemoteMemory& memory_;
  RemoteBytes from_;
  std::string bytes_;
  bool is_all_ = false;
};

// The start of a walk, as registers have it. `exact`: `pc` is an instruction, not a return address.
struct WalkStart {
  uint64_t pc = 0, sp = 0, fp = 0;
  bool exact = false;
};

class RemoteStack {
 public:
  // The modules must outlive it.
  explicit RemoteStack(const std::deque<TracedModule>& modules) : modules_(modules) {}
  RemoteStack(const RemoteStack&) = delete;
  RemoteStack& operator=(const RemoteStack&) = delete;

  struct Walked {
    std::vector<uint64_t> pcs;  // innermost first; never empty
    penna_stack_end end = PENNA_STACK_COMPLETE;
  };
  const Walked& walk(StackCopy& stack, WalkStart at, size_t most_frames);
  void forget() { rules_.clear(); }
  const TracedModule* module_at(uint64_t pc) const;

 private:
  const unwind::FrameRule& rule_of(uint64_t pc);
  bool step(StackCopy& stack, WalkStart* at, penna_stack_end* end);
  bool step_by_signal(StackCopy& stack, WalkStart* at) const;
  bool step_by_frame_pointer(StackCopy& stack, WalkStart* at) const;
  const std::deque<TracedModule>& modules_;
  // Looking up a rule in .eh_frame takes a search and an interpretation; hot stacks are walked over and over.
  std::unordered_map<uint64_t, unwind::FrameRule> rules_;  // by pc
  // Reused, so that a walk allocates nothing; valid until the next.
  Walked walked_;
};

}  // namespace penna
