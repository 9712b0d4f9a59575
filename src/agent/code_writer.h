// SPDX-License-Identifier: MIT
// CodeWriter: writes what the recorder has planned (penna/patch_plan.h) over the code of a module.
//
// Why in two parts: other threads may run that code. What lies behind the head of a patch is nobody's way as long as the head is as it
// was, so it is written first; the head then changes by one store that no processor sees half of.
// Invariant: nothing is written where the bytes are not those that were planned upon, nor outside the module's code.
#pragma once

#include <stdint.h>

#include "agent/sites.h"
#include "agent/state.h"
#include "penna/patch_plan.h"

namespace penna::agent {

inline constexpr uint64_t kCacheLine = 64;

inline bool holds_bytes(uintptr_t address, const uint8_t* bytes, int count) {
  for (int i = 0; i < count; ++i)
    if (reinterpret_cast<const volatile uint8_t*>(address)[i] != bytes[i]) return false;
  return true;
}

// Writes code of one module.
class CodeWriter {
 public:
  // `alone`: there is no other thread.
  CodeWriter(const penna_patch_question& question, bool alone)
      : lock_(BoardLock::kASecond), elf_(elf_of_module(question.start)), patcher_{board(), 0}, alone_(alone) {}
  ~CodeWriter() { finish(); }
  CodeWriter(const CodeWriter&) = delete;
  CodeWriter& operator=(const CodeWriter&) = delete;

  bool may_write(const penna_patch& patch) const {
    const penna_elf_range code = penna_elf_code_at(&elf_, patch.address);
    return lock_ && patch.bytes <= sizeof patch.before && patch.head != 0 && patch.head <= 8 &&
           patch.head <= patch.bytes && code.start != code.end && patch.address + patch.bytes <= code.end;
  }
  bool is_as_planned(const penna_patch& patch) const {
    return may_write(patch) && holds_bytes(patch.address, patch.before, patch.bytes);
  }
  // What write_tail() has left: the head as it was.
  static bool is_prepared(const penna_patch& patch) {
    return holds_bytes(patch.address, patch.before, patch.head) &&
           holds_bytes(patch.address + patch.head, patch.after + patch.head, patch.bytes - patch.head);
  }
  // What nobody runs as long as the head is as it was. False: it could not be made writable.
  bool write_tail(const penna_patch& patch) {
    for (unsigned i = patch.head; i < patch.bytes; ++i) {
      const uintptr_t at = patch.address + i;
      if (!make_writable(at)) return false;
      *reinterpret_cast<volatile uint8_t*>(at) = patch.after[i];
    }
    if (patch.head < patch.bytes) patcher_.dirty = 1;
    return true;
  }
  bool write_head(const penna_patch& patch) {
    if (!make_writable(patch.address) || !make_writable(patch.address + patch.head - 1)) return false;
    if (alone_)
      __builtin_memcpy(reinterpret_cast<void*>(patch.address), patch.after, patch.head);
    else if (!swap(patch))
      return false;
    patcher_.dirty = 1;
    return true;
  }
  void finish() {
    if (lock_) penna_finish_patching(&patcher_);
  }
  // Can its head be written under running threads? Within one line of the cache, what they fetch is old or new.
  static bool fits_line(const penna_patch& patch) { return patch.address % kCacheLine + patch.head <= kCacheLine; }

 private:
  // The window's check is for PENNA_SLOT_BYTES bytes; code never ends so close behind a place that this matters.
  bool make_writable(uintptr_t at) {
    const penna_elf_range code = penna_elf_code_at(&elf_, at);
    return penna_open_window(patcher_.board, &code, at) != 0;
  }
  // By one store, under running threads (techniques: measured at every offset). Eight bytes that hold the head and do not leave its
  // line.
  static bool swap(const penna_patch& patch) {
    if (!fits_line(patch)) return false;
    const uintptr_t line = patch.address & ~uintptr_t{kCacheLine - 1};
    const uintptr_t at = patch.address < line + kCacheLine - 8 ? patch.address : line + kCacheLine - 8;
    auto* word = reinterpret_cast<uint64_t*>(at);
    uint64_t seen, changed;
    __builtin_memcpy(&seen, word, 8);
    changed = seen;
    __builtin_memcpy(reinterpret_cast<uint8_t*>(&changed) + (patch.address - at), patch.after, patch.head);
    asm volatile("lock cmpxchgq %2, %1" : "+a"(seen), "+m"(*word) : "r"(changed) : "memory", "cc");
    return true;
  }

  BoardLock lock_;  // not longer than it writes: constructors wait for it under the dynamic linker's lock
  penna_elf_module elf_;
  penna_patcher patcher_;
  bool alone_;
};

}  // namespace penna::agent
