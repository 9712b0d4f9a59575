// SPDX-License-Identifier: MIT
// The fast path of a walk whose stack did not change, and the beginning of one whose stack did. See known.h.
#include "unwind/known.h"

#include <atomic>

namespace penna::unwind {

Known find_known(uint32_t generation, uintptr_t pc, uintptr_t sp, uintptr_t fp, const ThreadMemory& memory) {
  const uint32_t sequence = memory.sequence;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (!memory.always_readable || memory.generation != generation) return {};
  const End end = memory.end;
  if (end == End::depth_limit) return {};
  const Frame* frame = memory.frames + memory.count;
  do {
    if (frame == memory.frames) return {};
    --frame;
  } while (frame->sp < sp);
  // Even if the state is another one: the walk that follows needs to know where the known part begins.
  const auto depth = static_cast<uint32_t>(frame - memory.frames) + 1;
  const size_t same = first_changed(memory, 0, depth);
  Known known = Known::part(same, sequence);
  if (same == depth && same_state(*frame, pc, sp, fp, false)) known = Known::whole(*frame, depth, end);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return memory.sequence == sequence ? known : Known{};  // else a signal handler walked meanwhile
}

}  // namespace penna::unwind
