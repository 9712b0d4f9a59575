// SPDX-License-Identifier: MIT
// StackMatcher: which stacks have a frame of interest.
//
// Why: stacks share their outer frames; each node of the tree of stacks is asked about once, however many stacks go
// through it.
// Invariant: bits() of a stack is the union over all its frames, including inlined ones.
#pragma once

#include <cstdint>
#include <functional>

#include "model/names/names.h"

namespace penna {

class StackMatcher {
 public:
  // Returns any bits for a frame. `recording` and `names` must outlive it.
  using Ask = std::function<uint64_t(const NameFrame&)>;
  StackMatcher(const Recording& recording, Names& names, Ask ask)
      : recording_(recording), names_(names), ask_(std::move(ask)) {}

  uint64_t bits(uint32_t process, uint32_t stack);

 private:
  const Recording& recording_;
  Names& names_;
  Ask ask_;
  NumberMap<uint64_t> frames_;                      // by NameFrames (their address)
  NumberMap<uint64_t> known_;                       // process, node -> bits
  std::vector<std::pair<uint64_t, uint64_t>> way_;  // of bits(): key, bits of its frames; innermost first
};

// Which stacks are known to the beginning of their thread: for others, the caller of the outermost frame is unknown.
class StackEnds {
 public:
  StackEnds(const Recording& recording, Names& names) : recording_(recording), names_(names) {}
  bool is_complete(uint32_t process, uint32_t stack);

 private:
  const Recording& recording_;
  Names& names_;
  NumberMap<bool> known_;  // process, stack
};

}  // namespace penna
