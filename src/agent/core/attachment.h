// SPDX-License-Identifier: MIT
// The agent came into a process that was running (penna/detail/attach.h): who may write code, and what was changed.
//
// Invariant: every byte of code and every pointer of the program that we change is in the journal before it changes,
// and so is all memory that we keep mapped. Without an attachment, in a process that was started with us, there is no
// journal, and nobody to put anything back.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/single_threaded.h>

#include "penna/detail/attach.h"

namespace penna::agent {

#pragma GCC visibility push(hidden)
extern penna_attachment* attachment;  // null: the process was started with us
// We came behind libc: nothing is bound to us. Known once libc's functions are (real.h).
extern bool came_late;
#pragma GCC visibility pop

// Is what is written now only noted, for the recorder to write while all threads are stopped?
inline bool holds_writes() {
  return __builtin_expect(attachment != nullptr, 0) &&
         __atomic_load_n(&attachment->state, __ATOMIC_RELAXED) == PENNA_ATTACH_HOLDS;
}

// May code be changed in any way: because no other thread runs, or will when it is written?
inline bool may_write_at_leisure() { return __libc_single_threaded != 0 || holds_writes(); }

// By modules.cc, which nothing here includes: marks the module that contains an address (penna_change::is_marked).
// False: it stays, or cannot be marked. *start: where it begins.
bool mark_if_it_may_go(uintptr_t address, uintptr_t* start);

// In front of the change. False: there is no room in the journal, and the change must not be made.
bool note_code(uintptr_t address, const uint8_t* before, const uint8_t* after, uint32_t bytes);
bool note_pointer(uintptr_t address, uintptr_t before, uintptr_t after);
// Memory of ours; where there is no room for it, it stays for good.
void note_mapping(uintptr_t address, size_t bytes);
// Maps zeroed memory that is kept, and notes it. Null: there is none.
void* map_kept(size_t bytes);

// [start, end) was unmapped: a module, or memory of ours.
void forget_changes(uintptr_t start, uintptr_t end);

// From here on `shared` is the journal. What an earlier recording has left mapped, and nobody uses any more, is given
// back.
void begin_attachment(penna_attachment* shared);

}  // namespace penna::agent
