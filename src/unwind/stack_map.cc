// SPDX-License-Identifier: MIT
// Finding the bounds of the current stack. See stack_map.h.
#include "unwind/stack_map.h"

#include <atomic>

#include "unwind/arch.h"

extern "C" void* __libc_stack_end;  // of ld.so: the stack pointer at the program's start

namespace penna::unwind {
namespace {

constexpr uintptr_t kPage = 4096;
// The kernel keeps at least this much address space below main's stack free of other mappings (mmap_base).
constexpr uintptr_t kMainStackGap = 128 << 20;
// How far below its control block a thread's stack pointer is looked for: 4,096 probes, 0.4 ms, at worst once.
constexpr uintptr_t kMaxThreadStack = 16 << 20;
// How much of a foreign stack is taken into account.
constexpr uintptr_t kMaxOtherStack = 8 << 20;

uintptr_t page_of(uintptr_t address) { return address & ~(kPage - 1); }

}  // namespace

// A signal handler may look between the two stores: with the new low and no high yet it finds no range, not a wrong
// one.
void StackMap::set_own(uintptr_t low, uintptr_t high) {
  own_.low = low;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  own_.high = high;
}

bool StackMap::find_own(uintptr_t sp) {
  const auto main_end = reinterpret_cast<uintptr_t>(__libc_stack_end);
  if (sp < main_end && main_end - sp < kMainStackGap) {
    set_own(page_of(sp), main_end);
    return true;
  }
  if (own_.high == main_end) return false;  // this is the main thread
  if (own_.high == 0 && is_main_thread()) {
    set_own(main_end, main_end);  // until its stack is met; what lies below its control block may be any mapping
    return false;
  }
  // A guard page separates a thread's stack from what lies below it: all readable from the control block down to sp
  // means that sp is on this stack. What was found before needs no second look.
  const uintptr_t end = thread_pointer();
  if (sp >= end || sp < floor_ || end - sp > kMaxThreadStack) return false;
  for (uintptr_t page = own_.high == end ? own_.low : page_of(end) + kPage; page > page_of(sp);) {
    page -= kPage;
    if (raw_probe(page)) continue;
    floor_ = page + kPage;
    return false;
  }
  set_own(page_of(sp), end);
  return true;
}

StackRange StackMap::find(uintptr_t sp) {
  if (own_.contains(sp)) return own_;
  if (other_.contains(sp)) return other_;
  if (find_own(sp)) return own_;
  if (!raw_probe(page_of(sp))) return {};
  other_ = {page_of(sp), page_of(sp) + kPage};
  return other_;
}

bool StackMap::reach(StackRange& range, uintptr_t end) {
  if (end <= range.high) return true;
  if (range.high == own_.high || end - range.low > kMaxOtherStack) return false;
  while (range.high < end) {
    if (!raw_probe(range.high)) return false;
    range.high += kPage;
  }
  if (other_.low == range.low) other_ = range;
  return true;
}

}  // namespace penna::unwind
