// SPDX-License-Identifier: MIT
// Finding the bounds of the current stack. See stack_map.h.
#include "unwind/stack_map.h"

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

bool readable(uintptr_t from, uintptr_t to) {
  for (uintptr_t page = page_of(from); page < to; page += kPage)
    if (!raw_probe(page)) return false;
  return true;
}

}  // namespace

bool StackMap::find_own(uintptr_t sp) {
  const auto main_end = reinterpret_cast<uintptr_t>(__libc_stack_end);
  if (sp < main_end && main_end - sp < kMainStackGap) {
    own_ = {page_of(sp), main_end};
    return true;
  }
  // A guard page separates a thread's stack from what lies below: all readable from sp to the control block means that
  // sp is on this stack. A part that was found before needs no second look.
  const uintptr_t end = thread_pointer();
  if (sp >= end || end - sp > kMaxThreadStack) return false;
  const uintptr_t known = own_.high == end && sp < own_.low ? own_.low : end;
  if (!readable(sp, known)) return false;
  own_ = {page_of(sp), end};
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
