// SPDX-License-Identifier: MIT
// One step outwards: from the registers in a frame to those in its caller.
//
// The fast path is plain_steps.h. Everything else (bounds that must grow, loaded CFAs, signal frames, frames without
// CFI) is slow_step(), out of line.
// Invariant: reads only words inside the StackRange; the stack pointer strictly grows within one stack, so walks end.
#pragma once

#include "unwind/arch.h"
#include "unwind/rule_cache.h"
#include "unwind/thread_memory.h"

namespace penna::unwind {

// The key of a frame's rule: a return address belongs to the call before it, which may be the last byte of a function.
inline uintptr_t rule_key(const Registers& frame) { return frame.pc - !frame.exact; }

// What slow_step() did.
enum class Stepped : uint8_t {
  proven,   // by CFI
  crossed,  // by CFI, and the caller is on another stack
  guessed,  // by a frame pointer that only looks right
  end,      // `why` says why there is no caller
};

// Applies `rule`, which is what the cache or the CFI said for `frame`; on a guess `rule` becomes the rule that the
// frame pointer stands for. `range` and `stacks` are updated when the stack turns out to be larger or another one.
Stepped slow_step(const RuleCache& cache, Rule& rule, Registers& frame, StackRange& range, StackMap& stacks, End& why);

// The words that the step from `frame` by `rule` to `caller` read, with the values they had. Returns how many, at most
// kMaxWordsOfStep. `caller_needs_fp`: whether the fp that the step gave the caller matters to it or further out.
inline constexpr size_t kMaxWordsOfStep = 3;
size_t words_of_step(Rule rule, const Registers& frame, const Registers& caller, bool caller_needs_fp, Word* words);

// Whether the fp of a frame matters to its own step by `rule` or, as its caller's fp, further out.
inline bool needs_fp(Rule rule, bool caller_needs_fp) {
  if (rule.plain()) [[likely]]
    return rule.base_is_fp() || (!rule.restores_fp() && caller_needs_fp);
  const FrameRule full = unpack(rule);
  if (full.is(FrameRule::kWide)) return true;  // it may: its parts are not available here
  if (full.is(FrameRule::kStandIn)) return caller_needs_fp;
  return full.uses_fp() || (full.keeps_fp() && caller_needs_fp);
}

}  // namespace penna::unwind
