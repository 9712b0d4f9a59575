// SPDX-License-Identifier: MIT
// CallStacks: the stacks of one thread that do not run, and what its jump buffers mean.
//
// Why: longjmp goes back on the stack that runs; a context has a stack of its own, whose calls stay open while others run.
// Invariant: a call is on one stack only, the running one or one of these.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/hash.h"
#include "penna/event.h"

namespace penna {

struct OpenCall {
  uint64_t pc = 0;        // as recorded
  uint64_t begin = 0;     // ticks
  uint64_t inner = 0;     // ticks spent in calls it made, so far
  uint32_t slot = 0;      // number of the function in this matcher, from 0
  uint32_t tag = 0;       // the observer's, set in on_enter
  bool outermost = true;  // no other call of the same function is open outside it
};

class CallStacks {
 public:
  // A program may put jump buffers at ever new addresses: then what is known of them is forgotten, and jumps to them are as good as
  // unknown (their calls end with the next exit of an outer one).
  static constexpr size_t kMaxBuffers = 1 << 16;

  void save(uint64_t buffer, size_t depth) {
    if (places_.size() >= kMaxBuffers) places_.clear();
    places_[buffer] = {running_, depth};
  }
  // How many calls are open where `buffer` leads to; nothing when that is not on the running stack.
  std::optional<size_t> saved_depth(uint64_t buffer) const;
  void make(uint64_t context, uint64_t link);
  // The running stack is now that of `context`, and waits.
  void suspend(uint64_t context, std::vector<OpenCall>& running);
  void resume(uint64_t context, std::vector<OpenCall>& running);
  // The last call of the running stack has ended: the context that it was made with goes on.
  void on_empty(std::vector<OpenCall>& running) {
    if (running_ != 0) end_context(running);
  }
  bool take_any(std::vector<OpenCall>& running);  // at the end; false: there is none left

 private:
  struct Place {
    uint64_t stack = 0;  // on which
    size_t depth = 0;
  };
  struct Waiting {
    uint64_t context = 0, stack = 0;
    std::vector<OpenCall> calls;
  };
  void end_context(std::vector<OpenCall>& running);
  std::vector<Waiting>::iterator waiting(uint64_t context);

  uint64_t running_ = 0;  // number of the running stack; 0: the thread's own
  uint64_t last_stack_ = 0;
  NumberMap<Place> places_;    // by buffer
  NumberMap<uint64_t> links_;  // by stack: the context that goes on when it ends
  std::vector<Waiting> waiting_;
};

}  // namespace penna
