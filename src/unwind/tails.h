// SPDX-License-Identifier: MIT
// Tails: the frames that followed on the same stack the last time are checked before any walk.
//
// Why: what a thread allocates next, after a certain stack and from a certain place, is nearly always what it did the
// last time (96 of 100 in python3, 72 in clang, 99 in sqlite3). So words are compared, side by side, where a walk would
// have to read one before it knows where the next one lies. Why a tail may be trusted: struct Tail, in thread_memory.h.
// Invariant: what is remembered stays whole until a tail is known to hold.
#pragma once

#include <atomic>

#include "unwind/known.h"
#include "unwind/walk_result.h"

namespace penna::unwind {

// The stack whose new frames are those of a tail; node 0: there is none. `known` as find_known() gave it.
WalkResult repeat_tail(ThreadMemory& memory, uintptr_t pc, uintptr_t sp, Known known);

namespace detail {

// Keeps the compiler from moving accesses across: the other side is a signal handler on the same thread.
inline void fence() { std::atomic_signal_fence(std::memory_order_seq_cst); }

// Around all changes of what is remembered. A walk that starts in between has no memory. False: one has, since
// `sequence`.
[[gnu::always_inline]] inline bool begin_change(ThreadMemory& memory, const StackRange& range, uint32_t sequence) {
  memory.count = 0;
  fence();
  memory.range = range;
  return memory.sequence == sequence;
}
[[gnu::always_inline]] inline bool end_change(ThreadMemory& memory, uint32_t sequence, uint32_t count) {
  fence();
  memory.count = count;
  fence();
  if (memory.sequence == sequence) [[likely]]
    return true;
  memory.count = 0;
  return false;
}

// Of a walk from pc, after what is remembered.
inline Tail& place_of_tail(ThreadMemory& memory, uintptr_t pc) {
  const uint32_t count = memory.count;  // a handler may set it to 0 at any time
  const uint64_t last = memory.frames[count - (count != 0)].node();
  return memory.tails[(pc ^ last << 24) * ThreadMemory::kGolden >> (64 - ThreadMemory::kTailBits)];
}

// What the walk with this sequence, from sp, has appended to the known frames becomes a tail, if it can be one.
void note_tail(Tail& tail, size_t known, size_t fresh, uintptr_t sp, const ThreadMemory& memory, uint32_t sequence);

}  // namespace detail
}  // namespace penna::unwind
