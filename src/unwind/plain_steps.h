// SPDX-License-Identifier: MIT
// PlainSteps: the hot loop of a walk, one table look-up and two loads per frame, all of its state in registers.
//
// It goes outwards while the rule of each frame is cached and plain and leads to a higher address in the same range of
// stack; anything else is left to its caller (walk.h), before anything is done for that frame.
// Invariant: reads only words inside the StackRange; the stack pointer strictly grows, so the loop ends.
#pragma once

#include "unwind/arch.h"
#include "unwind/rule_cache.h"
#include "unwind/thread_memory.h"

namespace penna::unwind {

struct PlainSteps {
  enum class Stop : uint8_t {
    kEnd,       // pc is not an address of code: 0 ends a stack by convention, nothing lies at or above 2^48
    kAtKnown,   // sp has reached `until`
    kFull,      // no more room for frames
    kNotPlain,  // not cached, not plain, or not inside the range
  };

  uintptr_t pc, sp, fp;  // the state that was reached; pc is a return address
  Frame* next;           // where the frame of this state is going to be written
  uint64_t path;         // a hash of the frames written so far

  // Frames go to [next, end). `until`: a stack pointer that the walk must not pass unseen.
  Stop run(RuleCache::View cache, const StackRange& range, uintptr_t until, const Frame* end);

  // What `path` becomes with one more frame.
  static uint64_t with(uint64_t path, uint64_t frame) { return (path << 23 | path >> 41) ^ frame; }
};

// Neighbouring words are stored one by one: gcc would merge them into one vector store, for which both values must
// travel through a vector register first.
[[gnu::always_inline]] inline void keep_apart() { asm volatile("" : : : "memory"); }

[[gnu::always_inline]] inline PlainSteps::Stop PlainSteps::run(RuleCache::View cache, const StackRange& range,
                                                               uintptr_t until, const Frame* end) {
  const uintptr_t low = range.low, high = range.high;
  uintptr_t at_pc = pc, at_sp = sp, at_fp = fp;
  uint64_t so_far = path;
  Frame* frame = next;
  Stop stop;
  for (;;) {
    const uintptr_t key = at_pc - 1;  // of the call, which may be the last instruction of a function
    stop = Stop::kEnd;
    if (key >> Arch::kPcBits != 0) [[unlikely]]
      break;
    stop = Stop::kAtKnown;
    if (at_sp >= until) break;
    stop = Stop::kFull;
    if (frame == end) [[unlikely]]
      break;
    stop = Stop::kNotPlain;
    const uint64_t hash = RuleCache::hash(key);
    const RuleCache::Entry entry = cache.look_up(hash);
    const Rule rule = entry.rule();
    if (!entry.is_of(hash) || !rule.plain()) [[unlikely]]
      break;
    const uintptr_t cfa = (rule.base_is_fp() ? at_fp : at_sp) + entry.cfa_offset();
    const uintptr_t fp_slot = cfa + rule.fp_offset();  // the return address itself where fp is kept
    if (cfa <= at_sp || cfa > high || fp_slot < low || cfa % 8 != 0) [[unlikely]]
      break;
    frame->pc = at_pc;
    keep_apart();
    frame->sp = at_sp;
    keep_apart();
    frame->fp = at_fp;
    keep_apart();
    frame->meta = Frame::pack(rule.bits, 0, 0, 0);
    ++frame;
    so_far = with(so_far, hash);
    uintptr_t saved_fp = *reinterpret_cast<const uintptr_t*>(fp_slot);
    asm("" : "+r"(saved_fp));  // load it in any case: a conditional move, not a branch that is hard to predict
    at_pc = *reinterpret_cast<const uintptr_t*>(cfa + Arch::kReturnFromCfa);
    at_sp = cfa;
    at_fp = rule.restores_fp() ? saved_fp : at_fp;
  }
  pc = at_pc;
  sp = at_sp;
  fp = at_fp;
  path = so_far;
  next = frame;
  return stop;
}

}  // namespace penna::unwind
