// SPDX-License-Identifier: MIT
// SameStacks: which stacks read the same, though their addresses differ.
//
// Why: a compiler that unrolls a loop makes several calls of one line, and a program that runs in a hundred processes
// has a hundred stacks of each of its places. For the reader they are one place, and one row.
// Stacks share their outer frames; each node of the tree of stacks is named once, however many stacks lead through it.
// Invariant: first_like() gives the same stack for two stacks if and only if every line of them that is shown
// (Names::shown) is the same, file by file (CodeMap), and they are of one process where those are kept apart.
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
  enum class Lines : uint8_t { kShown, kAll };  // which are compared; where nothing is folded, they are the same

  // Both must outlive it.
  SameStacks(const Recording& recording, Names& names, Of of = Of::kAllProcesses, Lines lines = Lines::kShown)
      : recording_(recording), names_(names), of_(of), folds_(lines == Lines::kShown && names.style().folds_stacks) {}

  // Stacks of which this is true are never the same as others: what was folded may tell them apart.
  void keep_apart(std::function<bool(uint32_t process, uint32_t stack)> is_other) { is_other_ = std::move(is_other); }

  bool joins_processes() const { return of_ == Of::kAllProcesses; }
  // The first of those that read the same as this one, of those that were asked for.
  StackOfProcess first_like(uint32_t process, uint32_t stack);

 private:
  // A node with all that is outside of it.
  struct Number {
    uint32_t shown = 0, whole = 0;  // of the lines that are shown, and of all
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
    uint32_t text = 0;  // of none
    StackFold::State fold = StackFold::State::kInOwn;
  };
  NumberMap<Text> frames_;           // NameFrames (their address), state of the fold -> that number
  NumberMap<uint32_t> numbers_;      // number of the outer frames or of how they end, number of the text -> a number
  NumberMap<Number> known_;          // process, node -> number of it and what is outside of it
  NumberMap<bool> others_;           // process, stack -> what is_other_ says
  NumberMap<StackOfProcess> first_;  // process (0 for all), that number -> the first
  std::vector<std::pair<uint64_t, const NameFrames*>> way_;  // of number_of(): key, frames; innermost first
};

}  // namespace penna
