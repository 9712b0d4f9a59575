// SPDX-License-Identifier: MIT
// StackMap: which memory around a stack pointer a walk may read, per thread, without /proc, locks or allocation.
//
// Two ranges are kept. `own` is the thread's stack from glibc: main's ends at __libc_stack_end, another's at its thread
// control block; it lasts as long as the thread. `other` is any other stack (sigaltstack, coroutine, ucontext): it
// grows upwards page by page as a walk asks for more, and is forgotten once the thread walks its own stack again,
// because such memory may be unmapped unnoticed. Pages are tested by raw_probe(), 0.1 µs each, once.
// Invariant: [low, high) of a range is readable when it is handed out. Use by the owning thread only; a signal handler
// on the same thread may use it in between (ranges are handed out by value).
#pragma once

#include <cstddef>
#include <cstdint>

namespace penna::unwind {

struct StackRange {
  uintptr_t low = 0, high = 0;
  bool contains(uintptr_t address) const { return address >= low && address < high; }
};

class StackMap {
 public:
  // The range for a walk that starts at sp.
  StackRange begin_walk(uintptr_t sp) {
    if (own_.contains(sp)) [[likely]] {
      other_.high = 0;
      return own_;
    }
    return find(sp);
  }
  const StackRange& own() const { return own_; }
  bool is_own(const StackRange& range) const { return range.high == own_.high; }

  // The range that holds sp, or an empty one when sp cannot be read. For any sp, also a garbage one.
  StackRange find(uintptr_t sp);

  // Makes `range` reach up to `end` if memory allows. False: it does not.
  bool reach(StackRange& range, uintptr_t end);

 private:
  bool find_own(uintptr_t sp);
  void set_own(uintptr_t low, uintptr_t high);

  StackRange own_;
  StackRange other_;
  uintptr_t floor_ = 0;  // the thread's own stack does not reach below this: the page under it is not readable
};

}  // namespace penna::unwind
