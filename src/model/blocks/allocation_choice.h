// SPDX-License-Identifier: MIT
// AllocationChoice: which allocations count: of one family, and by process, size, functions in their stack and lifetime
// of their block.
//
// Why one class: every report, export and check asks it, so that --family, --size, --stack and --lifetime mean the same
// everywhere. A block's lifetime is not known when it is allocated: lifetime limits need a walk of the recording ahead
// of the analysis (learn_lifetimes()).
// Invariant: the answer for an allocation is always the same.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/nearest_name.h"
#include "model/blocks/block_family.h"
#include "model/names/function_pattern.h"
#include "model/names/stack_matcher.h"

namespace penna {

struct AllocationLimits {
  BlockFamily family;
  std::vector<bool> processes;                                               // by index; empty: all
  uint64_t min_size = 0, max_size = std::numeric_limits<uint64_t>::max();    // bytes, both included
  uint64_t min_ticks = 0, max_ticks = std::numeric_limits<uint64_t>::max();  // both included; never freed = infinite
  std::vector<FunctionPattern> stacks;                                       // one of them must match a function
  bool asks_lifetime() const { return min_ticks != 0 || max_ticks != std::numeric_limits<uint64_t>::max(); }
  bool any() const {
    return asks_lifetime() || !processes.empty() || min_size != 0 || max_size != std::numeric_limits<uint64_t>::max() ||
           !stacks.empty();
  }
};

class AllocationChoice {
 public:
  // `recording` and `names` must outlive it.
  AllocationChoice(const Recording& recording, Names& names, AllocationLimits limits);

  const AllocationLimits& limits() const { return limits_; }

  // `sequence`: the allocation's number within its thread, from 0.
  bool takes(uint32_t process, uint32_t thread, uint64_t sequence, const BlockRecord& block) {
    if (!limits_.processes.empty() && !limits_.processes[process]) return false;
    if (block.size < limits_.min_size || block.size > limits_.max_size || !limits_.family.counts(block)) return false;
    if (!limits_.stacks.empty() && stacks_.bits(process, block.stack) == 0) {
      doubtful_ += !ends_.is_complete(process, block.stack);
      return false;
    }
    return !limits_.asks_lifetime() || (sequence < lives_[thread].size() && lives_[thread][sequence]);
  }
  // From the walk ahead: this block's lifetime is within the limits.
  void let_live(uint32_t thread, uint64_t sequence);

  // Allocations rejected because no such function is in their stack, although the stack's outer frames are unknown.
  uint64_t doubtful() const { return doubtful_; }
  // Patterns that have matched no function so far.
  std::vector<NearestName> unmet() const;

 private:
  AllocationLimits limits_;
  StackMatcher stacks_;
  StackEnds ends_;
  uint64_t doubtful_ = 0;
  struct Asked {
    NearestName nearest;
    bool met = false;
  };
  std::vector<Asked> asked_;              // by pattern
  std::vector<std::vector<bool>> lives_;  // by thread, by sequence
};

// Walks the recording ahead if the limits need it; calls `step` at each event.
void learn_lifetimes(const Recording& recording, AllocationChoice& choice, const std::function<void()>& step);

}  // namespace penna
