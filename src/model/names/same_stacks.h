// SPDX-License-Identifier: MIT
// SameStacks: which stacks read the same, though their addresses differ.
//
// Why: a compiler that unrolls a loop makes several calls of one line, and a program that runs in a hundred processes
// has a hundred stacks of each of its places. For the reader they are one place, and one row.
// Stacks share their outer frames; each node of the tree of stacks is named once, however many stacks lead through it.
// Invariant: first_like() gives the same stack for two stacks if and only if every line of them is the same, file by
// file (CodeMap), and they are of one process where those are kept apart.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/names/names.h"

namespace penna {

struct StackOfProcess {
  uint32_t process = 0, stack = 0;
  bool operator==(const StackOfProcess&) const = default;
};

class SameStacks {
 public:
  enum class Of : uint8_t { kAllProcesses, kEachProcess };

  // Both must outlive it.
  SameStacks(const Recording& recording, Names& names, Of of = Of::kAllProcesses)
      : recording_(recording), names_(names), of_(of) {}

  bool joins_processes() const { return of_ == Of::kAllProcesses; }
  // The first of those that read the same as this one, of those that were asked for.
  StackOfProcess first_like(uint32_t process, uint32_t stack);

 private:
  uint32_t text_of(const NameFrames& frames);
  uint32_t end_of(uint32_t process, const StackNode& outermost);
  uint32_t number_of(uint32_t process, uint32_t stack);
  uint32_t numbered(uint32_t outer, uint32_t text);

  const Recording& recording_;
  Names& names_;
  Of of_;
  TextMap<uint32_t> texts_;          // of frames -> a number
  NumberMap<uint32_t> frames_;       // NameFrames (their address) -> that number
  NumberMap<uint32_t> numbers_;      // number of the outer frames or of how they end, number of the text -> a number
  NumberMap<uint32_t> known_;        // process, node -> number of it and what is outside of it
  NumberMap<StackOfProcess> first_;  // process (0 for all), that number -> the first
  std::vector<std::pair<uint64_t, uint32_t>> way_;  // of number_of(): key, text; innermost first
};

}  // namespace penna
