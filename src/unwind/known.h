// SPDX-License-Identifier: MIT
// The checks that make the remembered part of a stack trustworthy: equal states, unchanged words. See thread_memory.h.
//
// Invariant: reads only words inside memory.range, which the caller has found to be readable now.
#pragma once

#include "unwind/thread_memory.h"

namespace penna::unwind {

// True when a remembered state equals (pc, sp, fp, exact) in all that matters to its steps outwards.
inline bool same_state(const Frame& known, uintptr_t pc, uintptr_t sp, uintptr_t fp, bool exact) {
  return known.sp == sp && known.pc == pc && known.has(Frame::kExact) == exact &&
         (!known.has(Frame::kNeedsFp) || known.fp == fp);
}

// The index of the first of words [from, count) that no longer holds its value, or count: three loads and a branch that
// is never taken each. This is the hot loop.
[[gnu::always_inline]] inline size_t first_changed(const Word* words, size_t from, size_t count) {
  const Word* word = words + from;
  const Word* const end = words + count;
  while (word != end && *word->address == word->value) ++word;
  return static_cast<size_t>(word - words);
}

// What find_known() knows of a whole stack, in two registers; depth 0: nothing.
struct Known {
  uint64_t meta = 0;           // of the innermost frame
  uint64_t depth_and_end = 0;  // depth in the low half, End in the high half

  uint32_t depth() const { return static_cast<uint32_t>(depth_and_end); }
  End end() const { return static_cast<End>(depth_and_end >> 32); }
};

// Looks for a remembered frame whose state is the return address `pc` with sp and fp, such that all that lies outside it
// still holds. Decides the commonest case only (the thread's own stack, no depth limit); walk() does the rest. Out of
// line on purpose: its one loop wants all registers.
Known find_known(uint32_t generation, uintptr_t pc, uintptr_t sp, uintptr_t fp, const ThreadMemory& memory);

}  // namespace penna::unwind
