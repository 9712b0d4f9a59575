// SPDX-License-Identifier: MIT
// The most common walk of a stack that changed since the last one: new frames by plain rules, and then what is known to
// hold.
//
// Why separate from the general walk: its state fits the registers. Invariant: what is remembered stays whole until the
// walk has succeeded.
#pragma once

#include "unwind/new_frames.h"
#include "unwind/tails.h"

namespace penna::unwind {

namespace detail {

// Where new frames met the known part: those go to scratch, `met` is the innermost known one.
struct Meeting {
  const Frame* met;
  PlainSteps steps;  // the state that was reached: that of `met`
};

// Walks outwards to the known part.
[[gnu::always_inline]] inline bool walk_to_known(RuleCache::View cache, const StackRange& range,
                                                 const ThreadMemory& memory, Meeting& meeting) {
  auto& [met, steps] = meeting;
  for (;;) {
    const PlainSteps::Stop stop = steps.run(cache, range, met->sp, memory.scratch + ThreadMemory::kMaxFresh);
    if (stop != PlainSteps::Stop::kAtKnown) [[unlikely]]
      return false;
    while (met->sp < steps.sp && met != memory.frames) --met;
    if (same_state(*met, steps.pc, steps.sp, steps.fp, false)) [[likely]]
      return true;
    if (met->sp > steps.sp) continue;
    if (met == memory.frames) return false;
    --met;
  }
}

// The most common walk of a stack that changed: its new frames are plain, were walked before, and lead to the part that
// is known to hold.
// Otherwise: node 0, and the general walk must follow. If `known` is a part, find_known() has made sure that the frames
// lie on the thread's own stack, and that the rules are those that led along them.
template <WalkHooks Hooks>
[[gnu::noinline]] WalkResult extend_known(RuleCache::View cache, ThreadMemory& memory, Hooks& hooks, uintptr_t pc,
                                          uintptr_t sp, uintptr_t fp, Known known) {
  const uint32_t sequence = ++memory.sequence;
  fence();
  const StackRange range = memory.stacks.begin_walk(innermost_slot(sp));
  if (known.frames() == 0 || !known.is_since(sequence - 1) || !memory.stacks.is_own(range)) return {};
  Tail& tail = place_of_tail(memory, pc);
  Meeting meeting{memory.frames + known.frames() - 1, {pc, sp, fp, memory.scratch, 0}};
  if (!walk_to_known(cache, range, memory, meeting)) return {};
  const auto& [met, steps] = meeting;
  Outer outer{met->node(), static_cast<size_t>(met - memory.frames) + 1, met->meta};
  const NewFrames frames{
      memory, static_cast<size_t>(steps.next - memory.scratch), steps.path, {steps.pc, steps.sp, steps.fp, false}};
  if (frames.fresh == 0 || !range.contains(innermost_slot(sp)) || !outer.has_room_for(frames.fresh)) return {};
  if (!frames.recall(hooks, outer.node, true)) [[unlikely]]
    return {};
  const size_t known_count = outer.count;
  const WalkResult result{memory.nodes[0], static_cast<uint32_t>(known_count + frames.fresh),
                          static_cast<uint32_t>(frames.fresh), memory.end, outer.guessed()};
  if (!begin_change(memory, range, sequence)) return {};
  frames.append(outer, true);
  if (!end_change(memory, sequence, result.depth)) [[unlikely]]
    return {};
  note_tail(tail, known_count, frames.fresh, sp, memory, sequence);
  return result;
}

}  // namespace detail
}  // namespace penna::unwind
