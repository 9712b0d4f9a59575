// SPDX-License-Identifier: MIT
// The checks that make the remembered part of a stack trustworthy: equal states, unchanged words. See thread_memory.h.
//
// Invariant: reads only words inside memory.range, which the caller has found to be readable now.
#pragma once

#include "unwind/arch.h"
#include "unwind/thread_memory.h"

namespace penna::unwind {

// True when a remembered state equals (pc, sp, fp, exact) in all that matters to its steps outwards.
inline bool same_state(const Frame& known, uintptr_t pc, uintptr_t sp, uintptr_t fp, bool exact) {
  return known.sp == sp && known.pc == pc && known.has(Frame::kExact) == exact &&
         (!known.has(Frame::kNeedsFp) || known.fp == fp);
}

// The slot of the return address that a walk begins with, which is checked again before the next one: the innermost
// word that the range of the walk must hold. If sp is at the beginning of a page, it is in the page below.
inline uintptr_t innermost_slot(uintptr_t sp) { return sp + static_cast<uintptr_t>(Arch::kReturnFromCfa); }

// Not 0: the return address of this frame is no longer where it was.
inline uintptr_t slot_change(const Frame& frame) {
  return *reinterpret_cast<const uintptr_t*>(frame.sp + Arch::kReturnFromCfa) ^ frame.pc;
}
inline bool slot_holds(const Frame& frame) { return slot_change(frame) == 0; }

// The first of frames [at, end) whose slot does not hold, or end. This is the hot loop: three loads per frame, and for
// four frames one branch, which is taken at most once; which of the four it is gets counted, as a branch that depends
// on it would be hard to predict.
[[gnu::always_inline]] inline size_t first_changed_slot(const Frame* frames, size_t at, size_t end) {
  for (; at + 4 <= end; at += 4) {
    const uintptr_t one = slot_change(frames[at]), two = one | slot_change(frames[at + 1]),
                    three = two | slot_change(frames[at + 2]), four = three | slot_change(frames[at + 3]);
    if (four != 0) return at + (one == 0) + (two == 0) + (three == 0);
  }
  while (at < end && slot_holds(frames[at])) ++at;
  return at;
}

// The first of frames [from, count) for which a word that was read has changed, or count.
[[gnu::always_inline]] inline size_t first_changed(const ThreadMemory& memory, size_t from, size_t count) {
  const Frame* const frames = memory.frames;
  size_t at = first_changed_slot(frames, from, memory.usual < count ? memory.usual : count);
  if (at == memory.usual) [[unlikely]]
    while (at < count && (frames[at].has(Frame::kNoSlot) || slot_holds(frames[at]))) ++at;
  if (at == from) return at;
  const size_t words = frames[at - 1].word_end();
  size_t word = from == 0 ? 0 : frames[from - 1].word_end();
  while (word != words && *memory.words[word].address == memory.words[word].value) ++word;
  if (word != words) [[unlikely]]
    while (at != from && frames[at - 1].word_end() > word) --at;
  return at;
}

// What find_known() found out, in two registers. Either the whole stack is known, or a part of what is remembered
// holds.
struct Known {
  uint64_t first =
      0;  // whole: meta of the innermost frame; else the frames that hold, and in the high half the sequence
  uint64_t second = 0;  // whole: depth in the low half, End in the high half; else 0

  static Known whole(const Frame& frame, uint32_t depth, End end) {
    return {frame.meta, depth | static_cast<uint64_t>(end) << 32};
  }
  static Known part(size_t frames, uint32_t sequence) { return {frames | uint64_t{sequence} << 32, 0}; }

  bool is_whole() const { return second != 0; }
  uint32_t node() const { return static_cast<uint32_t>(first); }
  uint8_t guessed() const { return static_cast<uint8_t>(first >> 56); }
  uint32_t depth() const { return static_cast<uint32_t>(second); }
  End end() const { return static_cast<End>(second >> 32); }
  // At most this many frames, from the outermost, may still be there, if no other walk has begun on this memory since.
  size_t frames() const { return static_cast<uint32_t>(first); }
  bool is_since(uint32_t sequence) const { return first >> 32 == sequence; }
};

// Looks for a remembered frame whose state is the return address `pc` with sp and fp, such that everything outside it
// still holds. Decides only the most common case (the thread's own stack, no depth limit); walk() does the rest, with
// what was found out here. Out of line on purpose: its one loop needs all registers.
Known find_known(uint32_t generation, uintptr_t pc, uintptr_t sp, uintptr_t fp, const ThreadMemory& memory);

}  // namespace penna::unwind
