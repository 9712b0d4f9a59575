// SPDX-License-Identifier: MIT
// The fast path of a walk whose stack did not change. See known.h.
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
  if (!same_state(*frame, pc, sp, fp, false)) return {};
  const size_t words = frame->word_end();
  if (first_changed(memory.words, 0, words) != words) return {};
  const auto depth = static_cast<uint64_t>(frame - memory.frames) + 1;
  const Known known{frame->meta, depth | static_cast<uint64_t>(end) << 32};
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (memory.sequence != sequence) return {};  // a signal handler walked meanwhile
  return known;
}

}  // namespace penna::unwind
