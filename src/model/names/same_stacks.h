// SPDX-License-Identifier: MIT
// SameStacks: which stacks read the same, although their addresses differ.
//
// Why: an unrolled loop makes several calls from one line, and a program that runs in a hundred processes has a hundred
// stacks for each of its places. To the reader they are one place, and one row.
// Stacks share their outer frames; each node of the tree of stacks is named once, however many stacks go through it.
// Invariant: first_like() returns the same stack for two stacks if and only if all their shown lines (Names::shown) are
// the same, file by file (CodeMap), and they are of one process if processes are kept apart.
#pragma once

#include <cstdint>
#include <functional>
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
  enum class Lines : uint8_t { kShown, kAll };  // which are compared; without folding they are the same

  // Both must outlive it.
  SameStacks(const Recording& recording, Names& names, Of of = Of::kAllProcesses, Lines lines = Lines::kShown)
      : recording_(recording), names_(names), of_(of), folds_(lines == Lines::kShown && names.style().folds_stacks) {}

  // Stacks for which it returns true are never the same as others: what was folded may distinguish them.
  void keep_apart(std::function<bool(uint32_t process, uint32_t stack)> is_other) { is_other_ = std::move(is_other); }

  bool joins_processes() const { return of_ == Of::kAllProcesses; }
  // The first stack, among those asked for, that reads the same as this one.
  StackOfProcess first_like(uint32_t process, uint32_t stack);

 private:
  // A node with everything outside of it.
  struct Number {
    uint32_t shown = 0, whole = 0;  // for the shown lines, and for all lines
    StackFold::State fold = StackFold::State::kInOwn;
  };
  std::string line_of(const NameFrame& frame) const;
  uint32_t text_of(const NameFrames& frames, StackFold* fold);
  uint32_t end_of(uint32_t process, const StackNode& outermost);
  Number outside_of(uint32_t process, const StackNode& outermost);
  Number inside_of(const Number& outer, const NameFrames& frames);
  uint32_t number_of(uint32_t process, uint32_t stack);
  bool is_other(uint32_t process, uint32_t stack);
  uint32_t numbered(uint32_t outer, uint32_t text);

  const Recording& recording_;
  Names& names_;
  Of of_;
  bool folds_;
  std::function<bool(uint32_t process, uint32_t stack)> is_other_;
  TextMap<uint32_t> texts_;  // of frames -> a number
  struct Text {
    uint32_t text = 0;  // that of no frames
    StackFold::State fold = StackFold::State::kInOwn;
  };
  NumberMap<Text> frames_;           // NameFrames (their address), state of the fold -> that number
  NumberMap<uint32_t> numbers_;      // number of the outer frames or of how they end, number of the text -> a number
  NumberMap<Number> known_;          // process, node -> number of it and everything outside of it
  NumberMap<bool> others_;           // process, stack -> what is_other_ says
  NumberMap<StackOfProcess> first_;  // process (0 for all), that number -> the first
  std::vector<std::pair<uint64_t, const NameFrames*>> way_;  // of number_of(): key, frames; innermost first
};

}  // namespace penna
