// SPDX-License-Identifier: MIT
// CodeWriter: writes what the recorder has planned (penna/patch_plan.h) over the code of a module.
//
// Why in two steps: other threads may run that code. The bytes after the head of a patch are unreachable as long as the
// head is unchanged, so they are written first; the head then changes in a way that no thread sees half of.
// All stores go through a second mapping of the page (detail/patch.h): a page is never writable where it is executable.
// In a process that was already running, the first writes are only noted: the recorder makes them while all threads are
// stopped (core/attachment.h).
// Invariant: nothing is written where the bytes differ from those that were planned for, nor outside the module's code.
#pragma once

#include <stdint.h>

#include "agent/core/attachment.h"
#include "agent/core/pages.h"
#include "agent/core/state.h"
#include "agent/modules/loader.h"
#include "agent/patch/sites.h"
#include "penna/patch_plan.h"

namespace penna::agent {

inline constexpr uint64_t kCacheLine = 64, kWholeBytes = 8;

inline bool holds_bytes(uintptr_t address, const uint8_t* bytes, int count) {
  for (int i = 0; i < count; ++i)
    if (reinterpret_cast<const volatile uint8_t*>(address)[i] != bytes[i]) return false;
  return true;
}

// Writes code of one module.
class CodeWriter {
 public:
  // `alone`: there are no other threads.
  CodeWriter(const penna_patch_question& question, bool alone)
      : lock_(BoardLock::kASecond), elf_(elf_of_module(question.start)), patcher_{board(), 0, 0}, alone_(alone) {}
  ~CodeWriter() { finish(); }
  CodeWriter(const CodeWriter&) = delete;
  CodeWriter& operator=(const CodeWriter&) = delete;

  bool may_write(const penna_patch& patch) const {
    const penna_elf_range code = penna_elf_code_at(&elf_, patch.address);
    return lock_ && patch.bytes <= sizeof patch.before && patch.head != 0 && patch.head <= kWholeBytes - 2 &&
           patch.head <= patch.bytes && code.start != code.end && patch.address + patch.bytes <= code.end;
  }
  bool is_as_planned(const penna_patch& patch) const {
    return may_write(patch) && holds_bytes(patch.address, patch.before, patch.bytes);
  }
  // The state after write_tail(): the head is unchanged.
  static bool is_prepared(const penna_patch& patch) {
    if (holds_writes()) return holds_bytes(patch.address, patch.before, patch.bytes);
    return holds_bytes(patch.address, patch.before, patch.head) &&
           holds_bytes(patch.address + patch.head, patch.after + patch.head, patch.bytes - patch.head);
  }
  // Writes what is unreachable as long as the head is unchanged. False: the system does not allow it, or note_code().
  bool write_tail(const penna_patch& patch) {
    return !is_tail_written(patch) ||
           (note(patch) && write(patch.address + patch.head, patch.after + patch.head, patch.bytes - patch.head));
  }
  bool write_head(const penna_patch& patch) {
    if (is_tail_written(patch) ? has_recorder_left() : !note(patch)) return false;
    if (holds_writes()) return true;
    return alone_ ? write(patch.address, patch.after, patch.head) : write_whole(patch);
  }
  void finish() {
    if (lock_) penna_finish_patching(&patcher_);
  }
  // Whether its head can be written under running threads: see write_whole().
  static bool fits_at_once(const penna_patch& patch) {
    const bool in_a_line = patch.address % kCacheLine + patch.head <= kCacheLine;
    return in_a_line && patch.address % kPageBytes != 0 && (patch.address + patch.head) % kPageBytes != 0;
  }

 private:
  // Whether write_tail() does anything: then it has also noted the patch.
  static bool is_tail_written(const penna_patch& patch) { return patch.bytes != patch.head && !holds_writes(); }
  static bool note(const penna_patch& patch) {
    return note_code(patch.address, patch.before, patch.after, patch.bytes);
  }
  bool write(uintptr_t at, const uint8_t* bytes, unsigned count) {
    const penna_elf_range code = penna_elf_code_at(&elf_, at);
    return penna_write_code(&patcher_, &code, at, bytes, count) != 0 && holds_bytes(at, bytes, static_cast<int>(count));
  }
  // Writes the head under running threads: in one cache line, within eight bytes of one page that begin and end with
  // bytes that do not change. The kernel copies eight by one store, but if a processor runs them at that moment, the
  // first or the last one may become visible separately (docs/decisions/0040).
  bool write_whole(const penna_patch& patch) {
    if (!fits_at_once(patch)) return false;
    const uintptr_t page_end = page_down(patch.address) + kPageBytes;
    const uintptr_t at = patch.address - 1 <= page_end - kWholeBytes ? patch.address - 1 : page_end - kWholeBytes;
    uint8_t word[kWholeBytes];
    __builtin_memcpy(word, reinterpret_cast<const void*>(at), sizeof word);
    __builtin_memcpy(word + (patch.address - at), patch.after, patch.head);
    return write(at, word, sizeof word);
  }

  BoardLock lock_;  // only while writing: constructors wait for it under the dynamic linker's lock
  penna_elf_module elf_;
  penna_patcher patcher_;
  bool alone_;
};

}  // namespace penna::agent
