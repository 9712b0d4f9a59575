// SPDX-License-Identifier: MIT
// walk(): the stack of the current thread as one interned node, in a few nanoseconds when most of it is known.
//
//   start ──▶ frame, frame, frame ──▶ met a remembered state whose outer part still holds?
//              │ (scratch)                    no: on to the outermost frame
//              ├──── the node of each: from the same path before, if the tree agrees; else searched outermost first
//              └──── remembered for the next walk
//
// Rules: no allocation, no locks, no libc except _dl_find_object; any thread, any signal handler; never faults,
// whatever the stack and the CFI hold; a stack that could not be followed to its end says why (End) instead of guessing
// silently.
// Why the remembered part may be trusted: thread_memory.h. Invariant: the result equals that of a walk without memory,
// except that a stack beyond the depth limit may show more frames (never fewer than max_depth).
#pragma once

#include "unwind/changed_stack.h"
#include "unwind/module.h"

namespace penna::unwind {

// Code whose addresses stand in for the return addresses of other code: a tracer's return trampolines. They have no
// frames themselves.
struct StandIns {
  uintptr_t begin = 0, bytes = 0;
  uintptr_t (*caller_of)(uintptr_t pc) = nullptr;  // what was there before; constant for each pc that is on a stack
  bool hold(uintptr_t pc) const { return pc - begin < bytes; }
};

struct Options {
  // Stacks of up to max_depth frames are always whole; deeper ones show at least their max_depth innermost frames. A
  // walk without memory shows up to twice as many, so that a deep recursion which goes up and down by a few frames
  // keeps its known part instead of being walked and interned again every time. At most 256.
  uint16_t max_depth = 256;
  // Hang the outermost frame of a truncated stack under a marker node whose pc is the End code (1 … 6, never a real
  // pc), so that the node itself says that and why frames are missing. Not counted in depth.
  bool mark_truncation = false;
  StandIns stand_ins;
};

// One per process. Constant initialisation; usable once `cache` has its memory.
struct Walker {
  RuleCache cache;
  Options options;
};

namespace detail {

// The cache does not know `key`: ask the CFI. Code outside of modules is not cached: a later dlopen may map it.
template <WalkHooks Hooks>
[[gnu::noinline, gnu::cold]] Rule learn(Walker& walker, uintptr_t key, Hooks& hooks) {
  const uint32_t generation = walker.cache.generation();
  if (walker.options.stand_ins.hold(key)) return walker.cache.put(key, kStandInRule, generation), kStandInRule;
  dl_find_object module;
  if (!find_module(key, module)) return pack(special_rule(FrameRule::kNone));
  hooks.on_new_pc(key, module);
  const Rule rule = pack(rule_of_module(key, module));
  walker.cache.put(key, rule, generation);
  return rule;
}

// One walk: the new frames go to memory.scratch, the known part is a prefix of memory.frames.
template <WalkHooks Hooks>
class Walk {
 public:
  Walk(Walker& walker, ThreadMemory& memory, Hooks& hooks)
      : walker_(walker),
        memory_(memory),
        hooks_(hooks),
        generation_(walker.cache.generation()),
        sequence_(++memory.sequence) {
    fence();
  }

  WalkResult run(uintptr_t pc, uintptr_t sp, uintptr_t fp, bool exact) {
    range_ = memory_.stacks.begin_walk(exact ? sp : innermost_slot(sp));
    known_ = memory_is_usable() ? memory_.count : 0;
    const End end = outwards(pc, sp, fp, exact);
    return fresh_ == 0 ? known_result() : append(end);
  }
  // A walk in a signal handler on this thread's memory began meanwhile: what this one computed is void.
  bool disturbed() const {
    fence();
    return memory_.sequence != sequence_;
  }

 private:
  bool memory_is_usable() const {
    return memory_.generation == generation_ && range_.low <= memory_.range.low && memory_.range.high <= range_.high;
  }

  // Steps outwards until a known state is met (met_) or the walk ends. Leaves the new frames in scratch and the state
  // that the last of them stepped to in at_.
  [[gnu::always_inline]] End outwards(uintptr_t pc, uintptr_t sp, uintptr_t fp, bool exact) {
    Frame* const scratch = memory_.scratch;
    const Frame* const last = scratch + fresh_limit();
    PlainSteps steps{pc, sp, fp, scratch, 0};
    at_.exact = exact;
    for (;;) {
      PlainSteps::Stop stop = PlainSteps::Stop::kNotPlain;
      if (!at_.exact) [[likely]]
        stop = steps.run(walker_.cache.view(), range_, known_sp(), last);
      at_ = {steps.pc, steps.sp, steps.fp, at_.exact};
      fresh_ = static_cast<size_t>(steps.next - scratch);
      path_ = steps.path;
      if (is_end(at_.pc)) return at_.pc == 0 && fresh_ != 0 ? End::complete : End::bad_memory;
      if (meets_known()) return met_ = true, memory_.end;
      if (stop == PlainSteps::Stop::kAtKnown) continue;
      if (steps.next == last) return End::depth_limit;
      if (End end; !other_step(*steps.next++, end)) return stuck_ = true, ++fresh_, end;
      steps = {at_.pc, at_.sp, at_.fp, steps.next, PlainSteps::with(path_, steps.pc)};
    }
  }

  // Frames of one walk at most; see Options::max_depth.
  size_t fresh_limit() const {
    const size_t wanted = size_t{walker_.options.max_depth} * 2;
    return wanted == 0 ? 1 : wanted > ThreadMemory::kMaxFresh ? ThreadMemory::kMaxFresh : wanted;
  }

  // 0 ends a stack by convention; no code lies at or above 2^48.
  static bool is_end(uintptr_t pc) { return (pc - 1) >> Arch::kPcBits != 0; }

  // Everything but a cached plain rule whose CFA lies in the range; writes the frame and steps at_. False: `why` the
  // walk ends.
  [[gnu::noinline]] bool other_step(Frame& frame, End& why) {
    Rule rule = walker_.cache.find(rule_key(at_));
    if (rule.empty()) rule = learn(walker_, rule_key(at_), hooks_);
    frame = {at_.pc, at_.sp, at_.fp, Frame::pack(rule.bits, 0, at_.exact, 0)};
    if (rule.bits == kEndRule.bits) return why = End::complete, false;
    if (rule.bits == kStandInRule.bits) {
      frame.meta = Frame::pack(rule.bits, 0, 0, 0);
      at_.pc = walker_.options.stand_ins.caller_of(at_.pc);
      return true;
    }
    const Stepped stepped = slow_step(walker_.cache, rule, at_, range_, memory_.stacks, why);
    const unsigned exact = frame.has(Frame::kExact) ? Frame::kExact : 0;
    const unsigned flags = exact | (stepped == Stepped::guessed ? Frame::kGuessed : 0);
    frame.meta = Frame::pack(rule.bits, 0, flags, 0);
    if (stepped == Stepped::crossed) {
      crossed_ = true;
      known_ = 0;
    }
    return stepped != Stepped::end;
  }

  // Where the innermost remembered frame lies that may still be met.
  uintptr_t known_sp() const { return known_ == 0 ? UINTPTR_MAX : memory_.frames[known_ - 1].sp; }

  // Whether at_ is a remembered state all of whose outer part still holds: that of frames[known_ - 1] then. Otherwise
  // none that lies here or further in can be met any more.
  [[gnu::always_inline]] bool meets_known() {
    while (known_sp() < at_.sp) --known_;
    if (known_sp() != at_.sp) return false;
    if (same_state(memory_.frames[known_ - 1], at_.pc, at_.sp, at_.fp, at_.exact)) {
      if (outer_part_holds()) return true;
      if (known_sp() != at_.sp) return false;
    }
    --known_;
    return false;
  }

  // The current state equals that of frames[known_ - 1]: whether that frame and all outer ones may be taken as known.
  // If not, known_ shrinks to what can still be met further out.
  bool outer_part_holds() {
    const size_t total = fresh_ + known_;
    const bool too_few = memory_.end == End::depth_limit && total < walker_.options.max_depth;
    if (too_few || total > ThreadMemory::kMaxFrames) [[unlikely]]
      return known_ = 0, false;
    if (known_ > verified_) verified_ = first_changed(memory_, verified_, known_);
    if (known_ <= verified_) [[likely]]
      return true;
    known_ = verified_;
    return false;
  }

  // Nothing new: the start itself is a known state. The remembered inner frames stay: the thread may go back there.
  WalkResult known_result() const {
    if (!met_) return {0, 0, 0, End::bad_memory, 0};
    const Frame& frame = memory_.frames[known_ - 1];
    return {frame.node(), static_cast<uint32_t>(known_), 0, memory_.end, frame.guessed()};
  }

  // Finds the nodes of the new frames, and remembers them.
  WalkResult append(End end) {
    Outer outer = met_ ? Outer{memory_.frames[known_ - 1].node(), known_, memory_.frames[known_ - 1].meta}
                       : Outer{root(end), 0, Frame::pack(0, ends_by_word(), 0, 0)};
    const bool remember =
        !crossed_ && range_.contains(innermost_slot(memory_.scratch[0].sp)) && outer.has_room_for(fresh_);
    if (disturbed()) return {};
    memory_.count = 0;  // from here on a nested walk starts without memory
    if (outer.count == 0 && ends_by_word())
      memory_.words[0] = {reinterpret_cast<const uintptr_t*>(innermost_slot(at_.sp)), at_.pc};
    const NewFrames frames{memory_, fresh_, path_, {at_.pc, stuck_ ? 0 : at_.sp, at_.fp, false}};
    if (!frames.recall(hooks_, outer.node, false) && !frames.intern(hooks_, outer.node, [this] { return disturbed(); }))
      return {0, static_cast<uint32_t>(fresh_) + (met_ ? static_cast<uint32_t>(known_) : 0), 0, End::tree_full, 0};
    if (remember) {
      frames.append(outer, false);
      publish(static_cast<uint32_t>(outer.count), end);
    } else {
      frames.count(outer);
    }
    return {memory_.nodes[0], static_cast<uint32_t>(outer.count), static_cast<uint32_t>(fresh_), end, outer.guessed()};
  }

  // Whether a plain step read a return address that is not code, which ended the walk. No frame has that address as its
  // pc, so the word is remembered separately: if it changes, the next walk may continue from there. Unusual steps
  // remember their words themselves.
  bool ends_by_word() const {
    return !stuck_ && is_end(at_.pc) && Rule{memory_.scratch[fresh_ - 1].rule_bits()}.plain();
  }

  uint32_t root(End end) {
    if (end == End::complete || !walker_.options.mark_truncation) [[likely]]
      return 0;
    return hooks_.intern(0, static_cast<uintptr_t>(end));
  }

  void publish(uint32_t count, End end) {
    if (memory_.generation != generation_) ++memory_.stamp;
    memory_.end = end;
    memory_.range = range_;
    memory_.always_readable = memory_.stacks.is_own(range_);
    memory_.generation = generation_;
    fence();
    memory_.count = count;
    if (disturbed()) memory_.count = 0;
  }

  Walker& walker_;
  ThreadMemory& memory_;
  Hooks& hooks_;
  Registers at_;  // the state that the walk has reached
  StackRange range_;
  uint64_t path_ = 0;    // a hash of the frames in scratch
  size_t fresh_ = 0;     // frames in scratch
  size_t known_ = 0;     // remembered frames that may still be met
  size_t verified_ = 0;  // so many of these, from the outermost, are known to hold
  uint32_t generation_;  // of the rules when the walk began
  uint32_t sequence_;
  bool met_ = false;
  bool stuck_ = false;    // the outermost frame of scratch was not stepped from
  bool crossed_ = false;  // from one stack to another
};

template <WalkHooks Hooks>
[[gnu::noinline]] WalkResult walk_unknown(Walker& walker, ThreadMemory& memory, Hooks& hooks, uintptr_t pc,
                                          uintptr_t sp, uintptr_t fp, bool exact) {
  constexpr int kAttempts = 4;
  for (int i = 0; i < kAttempts; ++i) {
    Walk<Hooks> walk(walker, memory, hooks);
    const WalkResult result = walk.run(pc, sp, fp, exact);
    if (!walk.disturbed()) [[likely]]
      return result;
  }
  return {0, 0, 0, End::interrupted, 0};
}

}  // namespace detail

// Walks the stack from `start` outwards and interns it. `memory` is the calling thread's own. Signal-safe, also while
// another walk on the same memory is interrupted: that one starts over.
template <WalkHooks Hooks>
[[gnu::always_inline]] inline WalkResult walk(Walker& walker, const Registers& start, ThreadMemory& memory,
                                              Hooks& hooks) {
  if (!start.exact) [[likely]] {
    const Known known = find_known(walker.cache.generation(), start.pc, start.sp, start.fp, memory);
    if (known.is_whole()) [[likely]]
      return {known.node(), known.depth(), 0, known.end(), known.guessed()};
    const WalkResult repeated = repeat_tail(memory, start.pc, start.sp, known);
    if (repeated.node != 0) [[likely]]
      return repeated;
    const WalkResult extended =
        detail::extend_known(walker.cache.view(), memory, hooks, start.pc, start.sp, start.fp, known);
    if (extended.node != 0) [[likely]]
      return extended;
  }
  return detail::walk_unknown(walker, memory, hooks, start.pc, start.sp, start.fp, start.exact);
}

}  // namespace penna::unwind
