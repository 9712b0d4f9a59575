// SPDX-License-Identifier: MIT
// See tails.h.
#include "unwind/tails.h"

#include "unwind/arch.h"

namespace penna::unwind {
namespace {

constexpr uint64_t kPcMask = (uint64_t{1} << Tail::kWayShift) - 1;
// What the known frame that a tail meets must not have: a step that reads more than its slot, or a slot that is not its
// pc.
constexpr uint64_t kNotMet = Frame::pack(0, 0, Frame::kExact | Frame::kNeedsFp | Frame::kNoSlot, 0);

// Frames of a stack, read from a tail once: a handler may change that at any time.
struct TailSize {
  size_t known, fresh;
  explicit TailSize(const Tail& tail) : known(tail.known), fresh(tail.fresh) {}
};

// Whether a walk from (pc, sp) would find the frames of `tail`. Reads only words between sp and the stack pointer of a
// known frame.
[[gnu::always_inline]] inline bool holds(const Tail& tail, TailSize size, const ThreadMemory& memory, size_t known,
                                         uintptr_t pc, uintptr_t sp) {
  if (tail.sp != sp || tail.stamp != memory.stamp || size.fresh - 1 >= Tail::kMost || size.known - 1 >= known)
    return false;
  const Frame& met = memory.frames[size.known - 1];
  const uint64_t span = tail.span;
  uint64_t change = (tail.pcs[0] ^ pc) | (met.sp ^ (sp + span * 8)) | (met.node() ^ tail.met_node);
  if ((change | (met.meta & kNotMet)) != 0) return false;
  for (size_t i = 1; i < size.fresh; ++i) {
    const uint64_t way = tail.pcs[i] >> Tail::kWayShift;
    if (way - 1 >= span) return false;
    change |= reinterpret_cast<const uintptr_t*>(sp)[way - 1] ^ (tail.pcs[i] & kPcMask);
  }
  return change == 0;
}

// Remembers its frames inside the known ones.
[[gnu::always_inline]] inline void append(const Tail& tail, TailSize size, ThreadMemory& memory) {
  Frame* frame = memory.frames + size.known;
  const uint64_t meta = frame[-1].meta & detail::kOfNextFrame;
  for (size_t i = size.fresh; i-- > 0; ++frame) {
    frame->pc = tail.pcs[i] & kPcMask;
    frame->sp = tail.sp + (tail.pcs[i] >> Tail::kWayShift) * 8;
    frame->meta = meta | tail.nodes[i];
  }
  if (memory.usual >= size.known) memory.usual = static_cast<uint32_t>(size.known + size.fresh);
}

}  // namespace

WalkResult repeat_tail(ThreadMemory& memory, uintptr_t pc, uintptr_t sp, Known known) {
  if (known.frames() == 0) return {};
  const Tail& tail = detail::place_of_tail(memory, pc);
  const TailSize size(tail);
  if (!holds(tail, size, memory, known.frames(), pc, sp)) return {};
  const uint32_t sequence = ++memory.sequence;
  detail::fence();
  if (!known.is_since(sequence - 1) || !detail::begin_change(memory, memory.stacks.own(), sequence)) return {};
  append(tail, size, memory);
  const Frame& innermost = memory.frames[size.known + size.fresh - 1];
  const WalkResult result{innermost.node(), static_cast<uint32_t>(size.known + size.fresh),
                          static_cast<uint32_t>(size.fresh), memory.end, innermost.guessed()};
  return detail::end_change(memory, sequence, result.depth) ? result : WalkResult{};
}

namespace detail {

void note_tail(Tail& tail, size_t known, size_t fresh, uintptr_t sp, const ThreadMemory& memory, uint32_t sequence) {
  const Frame& met = memory.frames[known - 1];
  const Frame* frame = &met + fresh;
  const bool needs_words = ((frame->meta ^ met.meta) & kOfNextFrame) != 0 || (met.meta & kNotMet) != 0;
  const uint64_t span = (met.sp - sp) / 8;
  tail.fresh = 0;
  if (needs_words || fresh > Tail::kMost || span > UINT16_MAX || sp % 8 != 0) return;
  fence();
  for (size_t i = 0; i < fresh; ++i, --frame) {
    tail.pcs[i] = frame->pc | (frame->sp - sp) / 8 << Tail::kWayShift;
    tail.nodes[i] = frame->node();
  }
  tail.sp = sp;
  tail.stamp = memory.stamp;
  tail.known = static_cast<uint16_t>(known);
  tail.met_node = met.node();
  tail.span = static_cast<uint16_t>(span);
  fence();
  if (memory.sequence == sequence) tail.fresh = static_cast<uint16_t>(fresh);
  fence();
  if (memory.sequence != sequence) tail.fresh = 0;  // a handler may have noted another one here meanwhile
}

}  // namespace detail
}  // namespace penna::unwind
