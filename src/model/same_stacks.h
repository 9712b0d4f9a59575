// SPDX-License-Identifier: MIT
// SameStacks: which stacks read the same, though their addresses differ.
//
// Why: a compiler that unrolls a loop makes several calls of one line. For the reader they are one place, and one row.
// Stacks share their outer frames; each node of the tree of stacks is named once, however many stacks lead through it.
// Invariant: first_like() gives the same stack for two stacks of a process if and only if every line of them is the same.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/names.h"

namespace penna {

class SameStacks {
 public:
  // Both must outlive it.
  SameStacks(const Recording& recording, Names& names) : recording_(recording), names_(names) {}

  // The first of those that read the same as this one, of those that were asked for.
  uint32_t first_like(uint32_t process, uint32_t stack);

 private:
  uint32_t text_of(const NameFrames& frames);
  uint32_t end_of(uint32_t process, const StackNode& outermost);
  uint32_t number_of(uint32_t process, uint32_t stack);
  uint32_t numbered(uint32_t outer, uint32_t text);

  const Recording& recording_;
  Names& names_;
  TextMap<uint32_t> texts_;      // of frames -> a number
  NumberMap<uint32_t> frames_;   // NameFrames (their address) -> that number
  NumberMap<uint32_t> numbers_;  // number of the outer frames or of how they end, number of the text -> a number
  NumberMap<uint32_t> known_;    // process, node -> number of it and what is outside of it
  NumberMap<uint32_t> first_;    // process, that number -> stack
  std::vector<std::pair<uint64_t, uint32_t>> way_;  // of number_of(): key, text; innermost first
};

}  // namespace penna
