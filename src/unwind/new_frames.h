// SPDX-License-Identifier: MIT
// NewFrames: what a walk has found in scratch: finds their nodes, and remembers them inside the known part of the
// stack.
//
//   scratch:  [ innermost … outermost ]──▶ reached        frames:  [ known … | new … ]◀── innermost
//
// Invariant: writes memory.nodes, memory.paths, memory.words and memory.frames after the known part, never
// memory.count: the caller has set that to 0 before append(), and publishes what was appended.
#pragma once

#include <concepts>

#include "unwind/module.h"
#include "unwind/plain_steps.h"
#include "unwind/step.h"

namespace penna::unwind {

// What the caller of walk() provides. Called in the middle of a walk: the rules of walk.h hold for them.
//   uint32_t intern(uint32_t parent, uintptr_t pc)    the node for pc called from `parent` (0 = root); 0: no room
//   uint32_t parent_of(uint32_t node, uintptr_t pc)    the parent of `node`, if that exists and is for pc; else kNoNode
//   void on_new_pc(uintptr_t pc, const dl_find_object& module)    first sight of a call site since the last clear()
inline constexpr uint32_t kNoNode = UINT32_MAX;  // never a node
template <typename T>
concept WalkHooks = requires(T& hooks, uint32_t node, uintptr_t pc, const dl_find_object& module) {
  { hooks.intern(node, pc) } -> std::same_as<uint32_t>;
  { hooks.parent_of(node, pc) } -> std::same_as<uint32_t>;
  hooks.on_new_pc(pc, module);
};

namespace detail {

// What is known about the frames appended so far; the next one goes inside them.
struct Outer {
  uint32_t node;
  size_t count;
  uint64_t meta;  // like that of the innermost of them; the node does not matter
  size_t word_end() const { return static_cast<uint16_t>(meta >> Frame::kWordShift); }
  uint8_t guessed() const { return static_cast<uint8_t>(meta >> Frame::kGuessedShift); }
  bool has_room_for(size_t fresh) const {
    return count + fresh <= ThreadMemory::kMaxFrames && word_end() + fresh * kMaxWordsOfStep <= ThreadMemory::kMaxWords;
  }
};

// A frame whose step was not plain, for append_unusual().
struct UnusualFrame {
  const Frame& scratch;
  const Registers& caller;  // sp is 0 where there was no step
  Frame* frame;             // where it is remembered
};

// Returns its meta without the node; `meta`: that of the next outer frame. `usual`: the first frame with kNoSlot.
[[gnu::noinline]] inline uint64_t append_unusual(ThreadMemory& memory, const UnusualFrame& unusual, uint64_t meta,
                                                 const Frame*& usual) {
  const Frame& scratch = unusual.scratch;
  const Rule rule{scratch.rule_bits()};
  const bool exact = scratch.has(Frame::kExact), fp_matters = (meta & kNeedsFp) != 0;
  size_t word_end = static_cast<uint16_t>(meta >> Frame::kWordShift);
  unsigned flags = exact ? Frame::kExact | Frame::kNoSlot : 0;
  if (exact && unusual.frame < usual) usual = unusual.frame;
  if (unusual.caller.sp != 0) {
    word_end += words_of_step(rule, {scratch.pc, scratch.sp, scratch.fp, exact}, unusual.caller, fp_matters,
                              memory.words + word_end);
  }
  if (needs_fp(rule, fp_matters)) flags |= Frame::kNeedsFp;
  if (rule.bits == kStandInRule.bits && unusual.frame != memory.frames) {  // what it stands for is not in the slot
    Frame* const outer = unusual.frame - 1;
    outer->meta |= uint64_t{Frame::kNoSlot} << Frame::kFlagShift;
    if (outer < usual) usual = outer;
  }
  auto guessed = static_cast<uint8_t>(meta >> Frame::kGuessedShift);
  if (scratch.has(Frame::kGuessed) && guessed != 255) ++guessed;
  return Frame::pack(0, word_end, flags, guessed);
}

struct NewFrames {
  ThreadMemory& memory;
  size_t fresh;       // frames in scratch
  uint64_t path;      // a hash of them
  Registers reached;  // the state that the outermost of them stepped to; sp 0: it did not step

  uint32_t* place_of_path(uint32_t outer_node) const {
    return memory.paths + ((path + outer_node) * ThreadMemory::kGolden >> (64 - ThreadMemory::kPathBits));
  }

  // Their nodes, if the last path with this hash was the same one. `plain`: no stand-ins are among them.
  template <WalkHooks Hooks>
  [[gnu::always_inline]] bool recall(const Hooks& hooks, uint32_t outer_node, bool plain) const {
    const Frame* const scratch = memory.scratch;
    uint32_t node = *place_of_path(outer_node);
    for (size_t i = 0; i < fresh; ++i) {
      memory.nodes[i] = node;
      if (!plain && scratch[i].rule_bits() == kStandInRule.bits) continue;
      node = hooks.parent_of(node, scratch[i].pc);
      if (node == kNoNode) return false;
    }
    return node == outer_node;
  }

  // The same by searching the tree, from the outermost to the innermost. False: it is full, or `disturbed` by a nested
  // walk.
  template <WalkHooks Hooks, typename Disturbed>
  bool intern(Hooks& hooks, uint32_t outer_node, Disturbed&& disturbed) const {
    uint32_t node = outer_node;
    for (size_t i = fresh; i-- > 0;) {
      if (memory.scratch[i].rule_bits() != kStandInRule.bits) node = hooks.intern(node, memory.scratch[i].pc);
      if (node == 0 || disturbed()) return false;
      memory.nodes[i] = node;
    }
    *place_of_path(outer_node) = node;
    return true;
  }

  // Remembers them, from the outermost to the innermost. `plain`: all of their steps were.
  [[gnu::always_inline]] void append(Outer& outer, bool plain) const {
    const Frame* const first_scratch = memory.scratch;
    const Frame* scratch = first_scratch + fresh;
    const uint32_t* node = memory.nodes + fresh;
    Frame* frame = memory.frames + outer.count;
    uint64_t meta = outer.meta & kOfNextFrame;
    const Frame* usual = frame + fresh;  // the first that is kNoSlot
    // The caller's state, word by word: a struct that is copied around would live in memory.
    uintptr_t caller_pc = reached.pc, caller_sp = reached.sp, caller_fp = reached.fp;
    do {
      --scratch;
      const Rule rule{scratch->rule_bits()};
      uint64_t own = 0;  // flags of this frame only
      if (plain || (scratch->meta == rule.bits && rule.plain() && caller_sp != 0)) [[likely]] {
        // Most code keeps no frame pointers, but any function may save the register: so that is not tested first.
        if ((meta & kNeedsFp) != 0 || rule.base_is_fp()) meta = with_fp(rule, caller_sp, caller_fp, meta);
      } else {
        const Registers caller{caller_pc, caller_sp, caller_fp, false};
        meta = append_unusual(memory, {*scratch, caller, frame}, meta, usual);
        own = meta & ~kOfNextFrame;
        meta &= kOfNextFrame;
      }
      frame->pc = caller_pc = scratch->pc;
      keep_apart();
      frame->sp = caller_sp = scratch->sp;
      keep_apart();
      frame->fp = caller_fp = scratch->fp;
      keep_apart();
      frame->meta = meta | own | *--node;
      ++frame;
    } while (scratch != first_scratch);
    if (memory.usual >= outer.count) memory.usual = static_cast<uint32_t>(usual - memory.frames);
    outer.count += fresh;
    outer.meta = meta;
  }

  // The same for a stack that is not remembered.
  void count(Outer& outer) const {
    outer.count += fresh;
    uint64_t guessed = outer.guessed();
    for (size_t i = 0; i < fresh; ++i) guessed += memory.scratch[i].has(Frame::kGuessed) && guessed != 255;
    outer.meta = guessed << Frame::kGuessedShift;
  }

 private:
  // What the meta of the frame becomes by a plain step, where the value of fp matters to that or to the caller.
  [[gnu::always_inline]] uint64_t with_fp(Rule rule, uintptr_t caller_sp, uintptr_t caller_fp, uint64_t meta) const {
    if (rule.restores_fp() && (meta & kNeedsFp) != 0) {
      memory.words[static_cast<uint16_t>(meta >> Frame::kWordShift)] = {
          reinterpret_cast<const uintptr_t*>(caller_sp + rule.fp_offset()), caller_fp};
      meta += uint64_t{1} << Frame::kWordShift;
    }
    if (rule.base_is_fp()) return meta | kNeedsFp;
    return rule.restores_fp() ? meta & ~kNeedsFp : meta;
  }
};

}  // namespace detail
}  // namespace penna::unwind
