// SPDX-License-Identifier: MIT
// For an agent in a process that was already running (penna/detail/attach.h): when code may be written, and what was
// changed.
//
// Invariant: every byte of code and every pointer of the program that the agent changes is in the journal before it
// changes, and so is all memory that the agent keeps mapped. Without an attachment, in a process that was started with
// the agent, there is no journal, and nothing is ever restored.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/single_threaded.h>

#include "penna/detail/attach.h"

namespace penna::agent {

#pragma GCC visibility push(hidden)
extern penna_attachment* attachment;  // null: the process was started with the agent
// The agent was loaded after libc: no symbol is bound to it. Known once libc's functions are (real.h).
extern bool loaded_late;
#pragma GCC visibility pop

// A process that was started with the agent is in the state in which the agent makes its changes itself.
inline uint32_t attachment_state() {
  if (__builtin_expect(attachment == nullptr, 1)) return PENNA_ATTACH_RUNS;
  return __atomic_load_n(&attachment->state, __ATOMIC_RELAXED);
}

// Whether changes are only noted now, for the recorder to write while all threads are stopped.
inline bool holds_writes() { return attachment_state() == PENNA_ATTACH_HOLDS; }

// Whether the recorder has written what was noted, and has not left.
inline bool changes_are_in_force() { return attachment_state() == PENNA_ATTACH_RUNS; }

// Whether code may be changed in any way: no other thread runs, or will when the change is written.
inline bool may_write_freely() { return __libc_single_threaded != 0 || holds_writes(); }

// Defined in modules.cc, which nothing here includes: marks the module that contains an address
// (penna_change::is_marked). False: it cannot be unloaded, or cannot be marked. *start: where it begins.
bool mark_if_unloadable(uintptr_t address, uintptr_t* start);

// The program looks at its stack through this function, which hides the agent's return addresses: what changes at its
// beginning is undone last (penna_change::goes_last). At most kMostLast; before it is changed.
void put_back_last(uintptr_t function);
inline constexpr uint32_t kMostLast = 2;

// Whether everything was restored: then nothing may be changed any more. The recorder waits for a thread in the agent's
// code, but not for one in a lock of libc's on the agent's behalf. So this is asked after the last call of libc's
// before a change: either the recorder undoes the change, or this thread sees that it has left.
inline bool has_recorder_left() { return attachment_state() == PENNA_ATTACH_LEFT; }

// Called before the change, with no call of libc's in between. False: the journal is full, or the recorder has left;
// the change must not be made.
bool note_code(uintptr_t address, const uint8_t* before, const uint8_t* after, uint32_t bytes);
bool note_pointer(uintptr_t address, uintptr_t before, uintptr_t after);
// Notes memory of the agent; if the journal is full, it is never unmapped.
void note_mapping(uintptr_t address, size_t bytes);
// Maps zeroed memory that is kept, and notes it. Null: out of memory.
void* map_kept(size_t bytes);

// [start, end) was unmapped: a module, or memory of the agent.
void forget_changes(uintptr_t start, uintptr_t end);

// From here on `shared` is the journal. Memory that an earlier recording has left mapped, and that is no longer used,
// is unmapped.
void begin_attachment(penna_attachment* shared);

}  // namespace penna::agent
