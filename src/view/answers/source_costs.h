// SPDX-License-Identifier: MIT
// SourceCosts: what each line of the source cost: calls of the function that begins there, and what was allocated,
// waited and hit below it.
//
// Calls are recorded with their function, not with the line that made them, so their time is at the function's first
// line. Allocations, waits and points have stacks: they count at each line of the stack, once.
// Invariant: a line's bytes, waits and hits are those of all stacks through it, so lines do not add up to a total.
// Memory: an entry per line that was seen.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/events/events.h"
#include "model/names/names.h"

namespace penna {

struct LineCost {
  uint64_t calls = 0, total_ns = 0, self_ns = 0;  // of functions that begin here
  uint64_t bytes = 0, allocations = 0, live_bytes = 0;
  uint64_t waits = 0, wait_ns = 0;
  uint64_t hits = 0;  // of points here

  void add(const LineCost& other);
  // What the files are sorted by: nanoseconds first, then bytes, then everything that is counted.
  bool is_more_than(const LineCost& other) const;
};

class SourceCosts {
 public:
  using Lines = std::map<uint32_t, LineCost>;
  // Reads the part of the recording that is selected.
  SourceCosts(const Recording& recording, Names& names);

  // By file, as its debug information names it.
  const std::map<std::string, Lines>& files() const { return files_; }

 private:
  void add_calls(const Recording& recording, Names& names);
  void add_allocations(const Recording& recording, Names& names);
  void add_waits(const Recording& recording, Names& names);
  void add_points(const Recording& recording, Names& names);
  void add_stack(Names& names, uint32_t process, uint32_t stack, const LineCost& cost);

  std::map<std::string, Lines> files_;
};

}  // namespace penna
