// SPDX-License-Identifier: MIT
// walk(): the stack of the current thread as one interned node, in a few nanoseconds when most of it is known.
//
//   start ──▶ frame, frame, frame ──▶ met a remembered state? ──▶ verify its words ──▶ the outer part is known
//              │ (scratch)                    no: on to the outermost frame
//              └──── interned from the outermost new frame to the innermost, then remembered for the next walk
//
// Laws: no allocation, no locks, no libc but _dl_find_object; any thread, any signal handler; never faults, whatever the
// stack and the CFI hold; a stack that could not be followed to its end says why (End) instead of guessing silently.
// Why the remembered part may be trusted: thread_memory.h. Invariant: the result equals that of a walk without memory,
// except that a stack beyond the depth limit may show more frames (never fewer than max_depth).
#pragma once

#include <concepts>

#include "unwind/module.h"
#include "unwind/step.h"

namespace penna::unwind {

struct Options {
  // Stacks of up to max_depth frames are always whole; deeper ones show at least their max_depth innermost frames. A
  // walk without memory shows up to twice as many, so that a deep recursion which goes up and down by a few frames
  // keeps its known part instead of being walked and interned anew every time. At most 256.
  uint16_t max_depth = 256;
  // Hang the outermost frame of a truncated stack under a marker node whose pc is the End code (1 … 6, never a real
  // pc), so that a node alone says that and why frames are missing. Not counted in depth.
  bool mark_truncation = false;
};

// One per process. Constant initialisation; usable once `cache` has its memory.
struct Walker {
  RuleCache cache;
  Options options;
};

// What the caller of walk() provides. Called in the middle of a walk: the same laws hold for them.
//   uint32_t intern(uint32_t parent, uintptr_t pc)    the node for pc called from `parent` (0 = root); 0: no room
//   void on_new_pc(uintptr_t pc, const dl_find_object& module)    first sight of a call site since the last clear()
template <typename T>
concept WalkHooks = requires(T& hooks, uint32_t node, uintptr_t pc, const dl_find_object& module) {
  { hooks.intern(node, pc) } -> std::same_as<uint32_t>;
  hooks.on_new_pc(pc, module);
};

struct WalkResult {
  uint32_t node = 0;     // of the innermost frame; 0 = none (see end)
  uint16_t depth = 0;    // frames from `node` to the outermost one, markers not counted
  uint16_t fresh = 0;    // of these, how many were walked and interned now
  End end = End::complete;
  uint8_t guessed = 0;   // steps without CFI, by a frame pointer that looked right; at most 255
};

namespace detail {

// The cache does not know `key`: ask the CFI. Code outside of modules is not cached: a later dlopen may map it.
template <WalkHooks Hooks>
[[gnu::noinline, gnu::cold]] Rule learn(Walker& walker, uintptr_t key, Hooks& hooks) {
  const uint32_t generation = walker.cache.generation();
  dl_find_object module;
  if (!find_module(key, module)) return pack(special_rule(FrameRule::kNone));
  hooks.on_new_pc(key, module);
  const Rule rule = pack(rule_of_module(key, module));
  walker.cache.put(key, rule, generation);
  return rule;
}

inline bool same_state(const Frame& known, const Registers& frame) {
  const bool exact = (known.flags & Frame::kExact) != 0;
  const bool fp_matters = (known.flags & Frame::kNeedsFp) != 0;
  return known.sp == frame.sp && known.pc == frame.pc && exact == frame.exact && (!fp_matters || known.fp == frame.fp);
}

// True when all words still hold their values. Two loads and a compare each, no branch: this is the hot loop.
[[gnu::always_inline]] inline bool words_hold(const Word* words, size_t count) {
  uintptr_t changed = 0, changed_too = 0;
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    changed |= *words[i].address ^ words[i].value;
    changed_too |= *words[i + 1].address ^ words[i + 1].value;
    changed |= *words[i + 2].address ^ words[i + 2].value;
    changed_too |= *words[i + 3].address ^ words[i + 3].value;
  }
  for (; i < count; ++i) changed |= *words[i].address ^ words[i].value;
  return (changed | changed_too) == 0;
}

// Keeps the compiler from moving accesses across: the other side is a signal handler on the same thread.
inline void fence() { std::atomic_signal_fence(std::memory_order_seq_cst); }

// One walk: the new frames go to memory.scratch, the known part is a prefix of memory.frames.
template <WalkHooks Hooks>
class Walk {
 public:
  Walk(Walker& walker, const Registers& start, ThreadMemory& memory, Hooks& hooks)
      : walker_(walker), memory_(memory), hooks_(hooks), at_(start), generation_(walker.cache.generation()), sequence_(++memory.sequence) {
    fence();
  }

  WalkResult run() {
    range_ = memory_.stacks.begin_walk(at_.sp);
    known_ = memory_is_usable() ? memory_.count : 0;
    const End end = outwards();
    if (fresh_ == 0) [[likely]] return known_result();
    return append(end);
  }
  // A walk in a signal handler on this thread's memory began meanwhile: what this one computed is void.
  bool disturbed() const {
    fence();
    return memory_.sequence != sequence_;
  }

 private:
  bool memory_is_usable() const {
    return memory_.generation == generation_ && range_.low <= memory_.range.low &&
           memory_.range.high <= range_.high;
  }

  // Steps outwards until a known state is met (met_) or the walk ends.
  End outwards() {
    const size_t limit = size_t{walker_.options.max_depth} * 2;
    if (is_end(at_.pc)) return End::bad_memory;
    for (;;) {
      while (known_ != 0 && memory_.frames[known_ - 1].sp < at_.sp) --known_;
      if (known_ != 0 && same_state(memory_.frames[known_ - 1], at_) && outer_part_holds()) {
        met_ = has_caller_ = true;
        return memory_.end;
      }
      if (fresh_ == limit) [[unlikely]] return has_caller_ = true, End::depth_limit;
      Frame& frame = memory_.scratch[fresh_++];
      frame.pc = at_.pc;
      frame.sp = at_.sp;
      frame.fp = at_.fp;
      frame.flags = at_.exact ? Frame::kExact : 0;
      Rule rule = walker_.cache.find(rule_key(at_));
      frame.node = rule.bits;
      if (!plain_step(rule, at_, range_)) [[unlikely]] {
        End why;
        if (!other_step(rule, frame, why)) return why;
      }
      if (is_end(at_.pc)) [[unlikely]] return has_caller_ = true, at_.pc == 0 ? End::complete : End::bad_memory;
    }
  }

  // 0 ends a stack by convention; no code lies at or above 2^48.
  static bool is_end(uintptr_t pc) { return (pc - 1) >> Arch::kPcBits != 0; }

  // Everything but a cached plain rule whose CFA lies in the range. False: `why` the walk ends.
  [[gnu::noinline]] bool other_step(Rule rule, Frame& frame, End& why) {
    if (rule.empty()) rule = learn(walker_, rule_key(at_), hooks_);
    const Stepped stepped = slow_step(walker_.cache, rule, at_, range_, memory_.stacks, why);
    frame.node = rule.bits;
    if (stepped == Stepped::guessed) frame.flags |= Frame::kGuessed;
    if (stepped == Stepped::crossed) {
      crossed_ = true;
      known_ = 0;
    }
    return stepped != Stepped::end;
  }

  // The current state equals that of frames[known_ - 1]: whether that frame and all outer ones may be taken as known.
  // If not, known_ shrinks to what can still be met further out.
  bool outer_part_holds() {
    const size_t total = fresh_ + known_;
    const bool too_few = memory_.end == End::depth_limit && total < walker_.options.max_depth;
    if (too_few || total > ThreadMemory::kMaxFrames) [[unlikely]] return known_ = 0, false;
    const size_t words = memory_.frames[known_ - 1].word_end;
    if (words <= verified_ || words_hold(memory_.words, words)) [[likely]] return true;
    shrink_known();
    return false;
  }
  // The words from the outermost one to the first changed one hold: frames with words beyond them are forgotten.
  [[gnu::noinline]] void shrink_known() {
    while (*memory_.words[verified_].address == memory_.words[verified_].value) ++verified_;
    while (known_ != 0 && memory_.frames[known_ - 1].word_end > verified_) --known_;
  }

  // Nothing new: the start itself is a known state. The remembered inner frames stay: the thread may go back there.
  WalkResult known_result() const {
    if (!met_) return {0, 0, 0, End::bad_memory, 0};
    const Frame& frame = memory_.frames[known_ - 1];
    return {frame.node, static_cast<uint16_t>(known_), 0, memory_.end, frame.guessed};
  }

  // Interns the new frames from the outermost to the innermost and remembers them.
  WalkResult append(End end) {
    size_t words = met_ ? memory_.frames[known_ - 1].word_end : 0;
    uint8_t guessed = met_ ? memory_.frames[known_ - 1].guessed : 0;
    bool fp_matters = met_ && (memory_.frames[known_ - 1].flags & Frame::kNeedsFp) != 0;
    uint32_t node = met_ ? memory_.frames[known_ - 1].node : root(end);
    size_t count = met_ ? known_ : 0;
    bool remember = !crossed_;
    Registers caller = at_;
    if (disturbed()) return {};
    memory_.count = 0;  // from here on a nested walk starts without memory
    for (size_t i = fresh_; i-- > 0;) {
      const Frame frame = memory_.scratch[i];
      if (disturbed()) return {};
      node = hooks_.intern(node, frame.pc);
      if (node == 0) [[unlikely]] return {0, static_cast<uint16_t>(count + i + 1), 0, End::tree_full, guessed};
      const Rule rule{frame.node};
      remember = remember && words + kMaxWordsOfStep <= ThreadMemory::kMaxWords;
      if (remember && has_caller_) words += words_of_step(rule, frame, caller, fp_matters, memory_.words + words);
      fp_matters = needs_fp(rule, fp_matters);
      guessed = static_cast<uint8_t>(guessed + ((frame.flags & Frame::kGuessed) && guessed != 255));
      if (remember) memory_.frames[count] = remembered(frame, node, words, fp_matters, guessed);
      ++count;
      caller = {frame.pc, frame.sp, frame.fp, (frame.flags & Frame::kExact) != 0};
      has_caller_ = true;
    }
    if (remember && !disturbed()) publish(count, end);
    return {node, static_cast<uint16_t>(count), static_cast<uint16_t>(fresh_), end, guessed};
  }

  uint32_t root(End end) {
    if (end == End::complete || !walker_.options.mark_truncation) return 0;
    return hooks_.intern(0, static_cast<uintptr_t>(end));
  }

  static Frame remembered(const Frame& frame, uint32_t node, size_t words, bool fp_matters, uint8_t guessed) {
    const uint8_t flags = (frame.flags & Frame::kExact) | (fp_matters ? Frame::kNeedsFp : 0);
    return {frame.pc, frame.sp, frame.fp, node, static_cast<uint16_t>(words), flags, guessed};
  }

  void publish(size_t count, End end) {
    memory_.end = end;
    memory_.range = range_;
    memory_.generation = generation_;
    fence();
    memory_.count = static_cast<uint32_t>(count);
    if (disturbed()) memory_.count = 0;
  }

  Walker& walker_;
  ThreadMemory& memory_;
  Hooks& hooks_;
  Registers at_;         // the state that the walk has reached
  StackRange range_;
  size_t fresh_ = 0;     // frames in scratch
  size_t known_ = 0;     // remembered frames that may still be met
  size_t verified_ = 0;  // words known to hold
  uint32_t generation_;  // of the rules when the walk began
  uint32_t sequence_;
  bool met_ = false;
  bool has_caller_ = false;  // at_ (or, in append(), the frame before) is what the frame at hand stepped to
  bool crossed_ = false;     // from one stack to another
};

}  // namespace detail

// Walks the stack from `start` outwards and interns it. `memory` is the calling thread's own. Signal-safe, also while
// another walk on the same memory is interrupted: that one starts over.
template <WalkHooks Hooks>
WalkResult walk(Walker& walker, const Registers& start, ThreadMemory& memory, Hooks& hooks) {
  constexpr int kAttempts = 4;
  for (int i = 0; i < kAttempts; ++i) {
    detail::Walk<Hooks> walk(walker, start, memory, hooks);
    const WalkResult result = walk.run();
    if (!walk.disturbed()) [[likely]] return result;
  }
  return {0, 0, 0, End::interrupted, 0};
}

}  // namespace penna::unwind
