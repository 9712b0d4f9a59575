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

#include "unwind/known.h"
#include "unwind/module.h"
#include "unwind/step.h"

namespace penna::unwind {

// Code whose addresses stand in for the return addresses of other code: a tracer's return trampolines. No frames of their own.
struct StandIns {
  uintptr_t begin = 0, bytes = 0;
  uintptr_t (*caller_of)(uintptr_t pc) = nullptr;  // what was there before; constant for each pc that is on a stack
  bool hold(uintptr_t pc) const { return pc - begin < bytes; }
};

struct Options {
  // Stacks of up to max_depth frames are always whole; deeper ones show at least their max_depth innermost frames. A
  // walk without memory shows up to twice as many, so that a deep recursion which goes up and down by a few frames
  // keeps its known part instead of being walked and interned anew every time. At most 256.
  uint16_t max_depth = 256;
  // Hang the outermost frame of a truncated stack under a marker node whose pc is the End code (1 … 6, never a real
  // pc), so that a node alone says that and why frames are missing. Not counted in depth.
  bool mark_truncation = false;
  StandIns stand_ins;
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
  uint32_t node = 0;   // of the innermost frame; 0 = none (see end)
  uint32_t depth = 0;  // frames from `node` to the outermost one, markers not counted
  uint32_t fresh = 0;  // of these, how many were walked and interned now
  End end = End::complete;
  uint8_t guessed = 0;  // steps without CFI, by a frame pointer that looked right; at most 255
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

// Keeps the compiler from moving accesses across: the other side is a signal handler on the same thread.
inline void fence() { std::atomic_signal_fence(std::memory_order_seq_cst); }

// Between two stores of neighbouring words: gcc would merge them into one vector store, for which both values must
// travel through a vector register first; that triples the latency of the loop below.
[[gnu::always_inline]] inline void keep_apart() { asm volatile("" : : : "memory"); }

// One walk: the new frames go to memory.scratch, the known part is a prefix of memory.frames.
// The two loops keep their state in local variables, and so in registers; members serve what is out of line.
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
    range_ = memory_.stacks.begin_walk(sp);
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
    const RuleCache::View cache = walker_.cache.view();
    Frame* const first_scratch = memory_.scratch;
    Frame* const last_scratch = first_scratch + fresh_limit();
    Frame* scratch = first_scratch;
    const Frame* const frames = memory_.frames;
    const Frame* known = frames + known_;
    StackRange range = range_;
    Registers at{pc, sp, fp, exact};
    End end = End::bad_memory;
    while (!is_end(at.pc)) {
      while (known != frames && known[-1].sp < at.sp) --known;
      if (known != frames && known[-1].sp == at.sp && same_state(known[-1], at.pc, at.sp, at.fp, at.exact)) {
        known_ = static_cast<size_t>(known - frames);
        fresh_ = static_cast<size_t>(scratch - first_scratch);
        if (outer_part_holds()) {
          met_ = true;
          end = memory_.end;
          break;
        }
        known = frames + known_;
      }
      if (scratch == last_scratch) [[unlikely]] {
        end = End::depth_limit;
        break;
      }
      Rule rule;
      const bool found = cache.find(rule_key(at), rule);
      scratch->pc = at.pc;
      keep_apart();
      scratch->sp = at.sp;
      keep_apart();
      scratch->fp = at.fp;
      scratch->meta = Frame::pack(rule.bits, 0, at.exact, 0);
      ++scratch;
      if (found && plain_step(rule, at, range)) [[likely]]
        continue;
      at_ = at;
      if (!other_step(found ? rule : Rule{}, scratch[-1], end)) {
        stuck_ = true;
        break;
      }
      at = at_;
      range = range_;
      if (crossed_) known = frames;
    }
    fresh_ = static_cast<size_t>(scratch - first_scratch);
    at_ = at;
    return at.pc == 0 && fresh_ != 0 ? End::complete : end;
  }

  // Frames of one walk at most; see Options::max_depth.
  size_t fresh_limit() const {
    const size_t wanted = size_t{walker_.options.max_depth} * 2;
    return wanted == 0 ? 1 : wanted > ThreadMemory::kMaxFresh ? ThreadMemory::kMaxFresh : wanted;
  }

  // 0 ends a stack by convention; no code lies at or above 2^48.
  static bool is_end(uintptr_t pc) { return (pc - 1) >> Arch::kPcBits != 0; }

  // Everything but a cached plain rule whose CFA lies in the range; steps at_. False: `why` the walk ends.
  [[gnu::noinline]] bool other_step(Rule rule, Frame& frame, End& why) {
    if (rule.empty()) rule = learn(walker_, rule_key(at_), hooks_);
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
    if (stepped == Stepped::crossed) crossed_ = true;
    return stepped != Stepped::end;
  }

  // The current state equals that of frames[known_ - 1]: whether that frame and all outer ones may be taken as known.
  // If not, known_ shrinks to what can still be met further out.
  bool outer_part_holds() {
    const size_t total = fresh_ + known_;
    const bool too_few = memory_.end == End::depth_limit && total < walker_.options.max_depth;
    if (too_few || total > ThreadMemory::kMaxFrames) [[unlikely]]
      return known_ = 0, false;
    const size_t words = memory_.frames[known_ - 1].word_end();
    if (words > verified_) verified_ = first_changed(memory_.words, verified_, words);
    if (words <= verified_) [[likely]]
      return true;
    while (known_ != 0 && memory_.frames[known_ - 1].word_end() > verified_) --known_;
    return false;
  }

  // Nothing new: the start itself is a known state. The remembered inner frames stay: the thread may go back there.
  WalkResult known_result() const {
    if (!met_) return {0, 0, 0, End::bad_memory, 0};
    const Frame& frame = memory_.frames[known_ - 1];
    return {frame.node(), static_cast<uint32_t>(known_), 0, memory_.end, frame.guessed()};
  }

  // Interns the new frames from the outermost to the innermost and remembers them.
  WalkResult append(End end) {
    Outer outer = met_ ? outer_of(memory_.frames[known_ - 1], known_) : Outer{root(end), 0, 0, 0, false};
    const bool remember = !crossed_ && outer.words + fresh_ * kMaxWordsOfStep <= ThreadMemory::kMaxWords;
    if (disturbed()) return {};
    memory_.count = 0;  // from here on a nested walk starts without memory
    const bool complete = remember ? intern_and_remember(outer) : intern_only(outer);
    if (!complete) [[unlikely]]
      return {0, static_cast<uint32_t>(fresh_) + (met_ ? static_cast<uint32_t>(known_) : 0), 0, End::tree_full, 0};
    if (remember) publish(outer.count, end);
    return {outer.node, outer.count, static_cast<uint32_t>(fresh_), end, outer.guessed};
  }

  // What is known of the frames appended so far; the next one goes inside them.
  struct Outer {
    uint32_t node;
    uint32_t count;
    uint32_t words;
    uint8_t guessed;
    bool fp_matters;
  };
  static Outer outer_of(const Frame& frame, size_t count) {
    return {frame.node(), static_cast<uint32_t>(count), frame.word_end(), frame.guessed(), frame.has(Frame::kNeedsFp)};
  }

  // False: the tree is full, or a nested walk disturbed this one.
  [[gnu::always_inline]] bool intern_and_remember(Outer& outer) {
    const Frame* const first_scratch = memory_.scratch;
    const Frame* scratch = first_scratch + fresh_;
    Frame* frame = memory_.frames + outer.count;
    Word* const first_word = memory_.words;
    Word* words = first_word + outer.words;
    uint32_t node = outer.node;
    uint8_t guessed = outer.guessed;
    bool fp_matters = outer.fp_matters;
    // The caller's state, word by word: a struct that is copied around would live in memory.
    uintptr_t caller_pc = at_.pc, caller_sp = at_.sp, caller_fp = at_.fp;
    if (stuck_) caller_sp = 0;  // the outermost frame has no caller: its step read nothing
    do {
      --scratch;
      const uintptr_t pc = scratch->pc, sp = scratch->sp, fp = scratch->fp;
      const bool exact = scratch->has(Frame::kExact);
      const Rule rule{scratch->rule_bits()};
      guessed = static_cast<uint8_t>(guessed + (scratch->has(Frame::kGuessed) && guessed != 255));
      if (rule.bits != kStandInRule.bits) [[likely]]
        node = hooks_.intern(node, pc);
      if (node == 0 || disturbed()) [[unlikely]]
        return false;
      if (rule.plain() && caller_sp != 0) [[likely]] {
        words += words_of_plain_step(rule, caller_pc, caller_sp, caller_fp, fp_matters, words);
      } else if (caller_sp != 0) {
        words += words_of_step(rule, {pc, sp, fp, exact}, {caller_pc, caller_sp, caller_fp, false}, fp_matters, words);
      }
      fp_matters = needs_fp(rule, fp_matters);
      frame->pc = caller_pc = pc;
      keep_apart();
      frame->sp = caller_sp = sp;
      keep_apart();
      frame->fp = caller_fp = fp;
      const unsigned flags = unsigned{exact} | unsigned{fp_matters} * Frame::kNeedsFp;
      frame->meta = Frame::pack(node, static_cast<size_t>(words - first_word), flags, guessed);
      ++frame;
    } while (scratch != first_scratch);
    outer.node = node;
    outer.count = static_cast<uint32_t>(frame - memory_.frames);
    outer.guessed = guessed;
    return true;
  }
  [[gnu::noinline, gnu::cold]] bool intern_only(Outer& outer) {
    for (size_t i = fresh_; i-- > 0; ++outer.count) {
      const Frame& frame = memory_.scratch[i];
      if (frame.rule_bits() != kStandInRule.bits) outer.node = hooks_.intern(outer.node, frame.pc);
      if (outer.node == 0 || disturbed()) return false;
      if (frame.has(Frame::kGuessed) && outer.guessed != 255) ++outer.guessed;
    }
    return true;
  }

  uint32_t root(End end) {
    if (end == End::complete || !walker_.options.mark_truncation) [[likely]]
      return 0;
    return hooks_.intern(0, static_cast<uintptr_t>(end));
  }

  void publish(uint32_t count, End end) {
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
  size_t fresh_ = 0;     // frames in scratch
  size_t known_ = 0;     // remembered frames that may still be met
  size_t verified_ = 0;  // so many words, from the outermost, are known to hold
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
    if (known.depth() != 0) [[likely]]
      return {static_cast<uint32_t>(known.meta), known.depth(), 0, known.end(), static_cast<uint8_t>(known.meta >> 56)};
  }
  return detail::walk_unknown(walker, memory, hooks, start.pc, start.sp, start.fp, start.exact);
}

}  // namespace penna::unwind
