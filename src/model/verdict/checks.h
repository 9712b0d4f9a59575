// SPDX-License-Identifier: MIT
// Checks: whether a recording stays within limits, and which stacks are to blame if not.
//
// A kind of limit is a function that returns a Verdict; what a Verdict is about (bytes, counts, times) is its unit, so
// that limits on locks or calls need nothing else.
// Invariant: a verdict's `blames` add up to what was found, or to less if the limit is not one of sums.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/nearest_name.h"
#include "model/blocks/allocations.h"
#include "model/calls/call_tree.h"
#include "model/names/stack_matcher.h"
#include "model/names/suppressions.h"
#include "model/verdict/call_limits.h"
#include "model/verdict/health.h"

namespace penna {

struct Blame {
  uint32_t process = 0;  // index
  uint32_t stack = 0;
  uint64_t amount = 0;
};

// What would have to be known, and is not: the truth may be more than what was found, or less.
struct Missing {
  std::string reason;  // not a full sentence: "events were lost"
  bool more = false, less = false;
};

struct Verdict {
  enum class Unit : uint8_t { kCount, kBytes, kTime };  // nanoseconds
  std::string limit;                                    // as typed: "--max-leak 0"
  Unit unit = Unit::kCount;
  uint64_t allowed = 0, found = 0;
  std::vector<Blame> blames;  // largest first
  bool of_locks = false;      // stacks are shown from where the lock was taken
  std::string doubt;          // why it may say nothing, and what then; empty: no doubt
  std::vector<Missing> missing;
  bool is_broken() const { return found > allowed && !may_be(&Missing::less); }
  // Neither kept nor broken, as far as is known.
  bool is_unknown() const { return found > allowed ? may_be(&Missing::less) : may_be(&Missing::more); }

 private:
  bool may_be(bool Missing::*what) const {
    for (const Missing& one : missing)
      if (one.*what) return true;
    return false;
  }
};

// Largest first.
void sort_blames(Verdict& verdict);
// Blames of stacks that read the same become one.
void join_blames(Verdict& verdict, SameStacks& same);

// What happened inside functions that have limits: they are in the stack, or their call is recorded and was open.
class LimitedFunctions {
 public:
  // `tree`: null if no calls are recorded. `limits`: at most kMostCallLimits.
  LimitedFunctions(const Recording& recording, Names& names, const CallTree* tree,
                   const std::vector<CallLimit>& limits);

  // `node`: of the tree; ignored without one.
  void add(uint32_t process, uint32_t stack, uint32_t node, uint64_t amount);
  // The same if each has a stack: counts those whose stack is incomplete.
  void add_with_stack(uint32_t process, uint32_t stack, uint32_t node, uint64_t amount);
  uint64_t doubtful(size_t limit) const { return doubtful_[limit]; }
  // One per limit. `op`: what is limited, "took a lock": used if no function of the name has done it.
  std::vector<Verdict> verdicts(const char* op);

 private:
  void see(const std::string& function);

  const std::vector<CallLimit>& limits_;
  std::vector<NearestName> nearest_;  // by limit: among the functions seen
  StackMatcher in_stack_;
  StackEnds ends_;
  bool by_calls_;
  std::vector<uint64_t> in_calls_;  // by node
  uint64_t met_ = 0;                // a bit for each limit whose function was seen
  std::vector<Verdict> verdicts_;
  std::vector<NumberMap<size_t>> known_;  // by limit: process, stack -> number of the blame
  std::vector<uint64_t> doubtful_;        // by limit: what happened elsewhere, as far as the stack is known
};

// Missing events may have broken any limit, or none: this one is never broken itself, but unknown. Counts the events of
// a class (`what`: "allocation") for which there was no room in the target or in the file.
Verdict check_lost(const HealthReport& health, penna_event_class of, const char* what);
// Gaps in the recording, with an unknown number of events; nothing if it is complete.
std::optional<Verdict> check_gaps(const HealthReport& health);

// Blocks that were never freed, in bytes and in number, without the suppressed ones (null: none are).
Verdict check_leak(const Allocations& heap, LeakSuppressor* suppressor, Verdict::Unit unit, uint64_t allowed);
// Of the process with the largest peak.
Verdict check_peak(const Allocations& heap, uint64_t allowed);

// Bytes allocated per second, averaged over a process's life, for the process with the most.
Verdict check_alloc_rate(const Recording& recording, const Summary& summary, const Allocations& heap, uint64_t allowed);
// Allocations inside functions of these names: they are in the stack, or their call is recorded and open. The contexts
// of `heap` are the nodes of `tree`, unless that is null: then no calls are recorded.
std::vector<Verdict> check_allocations(const Recording& recording, const Allocations& heap, Names& names,
                                       const CallTree* tree, const std::vector<CallLimit>& limits);

}  // namespace penna
