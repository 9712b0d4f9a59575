// SPDX-License-Identifier: MIT
// CallFrames: dense numbers for the functions and spans that a timeline enters and leaves, for formats that write each
// name once.
//
// Why numbers and not names: each name is looked up in symbol tables once, and an event costs one hash.
// Invariant: equal numbers mean the same place in code, or spans with the same name; numbers count up from 0 in order
// of first appearance. Memory: one entry per function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/names/names.h"
#include "model/timeline/timeline.h"

namespace penna {

struct CallFrame {
  std::string name;
  std::string file;   // source; may be empty
  uint32_t line = 0;  // 0: unknown
  CodePlace place;    // of a function; unknown for a span
  bool is_span = false;
};

class CallFrames {
 public:
  CallFrames(const Recording& recording, Names& names);
  // For a kEnter, kLeave, kLeaf or kStrayExit of a function, or a kSpanBegin, kSpanEnd or kStrayExit of a span.
  uint32_t number(const TimelineLine& line);
  const CallFrame& at(uint32_t number) const { return frames_[number]; }
  size_t size() const { return frames_.size(); }

 private:
  uint32_t number_of_function(const TimelineLine& line);
  uint32_t number_of_span(const TimelineLine& line);

  const Recording& recording_;
  Names& names_;
  FunctionTable functions_;
  std::vector<NumberMap<uint32_t>> by_pc_;  // by process; if addresses keep their meaning
  std::vector<uint32_t> by_function_;       // by FunctionId
  TextMap<uint32_t> by_span_;               // by name
  std::vector<CallFrame> frames_;
};

}  // namespace penna
