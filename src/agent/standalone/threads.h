// SPDX-License-Identifier: MIT
// Standalone agent: the `thread` of each thread (core/state.h) where no dynamic linker provides thread-local storage.
//
// Why a table by thread pointer: it changes nothing in the thread, so there is nothing to undo, and no thread can be
// missed. libc puts a new thread's control block where an ended one's was; so an entry is valid only for the tid that
// libc has stored there.
// Invariant: only the thread itself creates or renews its entry, with signals blocked; an ended thread may lose its
// entry to another one. Entries never become unused again: a search ends at the first one that was never used.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/core/state.h"
#include "penna/detail/attach.h"

namespace penna::agent {

// A search looks at no more than this many entries, from its home on.
inline constexpr uint32_t kThreadBits = 14, kMostThreads = 1 << kThreadBits, kThreadProbes = 64;
inline constexpr uint64_t kThreadMix = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio; thread_x86_64.S has the same

struct ThreadKey {
  uintptr_t pointer;  // 0: never used; kKeyTaken: being filled; release: stored last
  uint32_t tid, reserved;
};
static_assert(sizeof(ThreadKey) == PENNA_THREAD_KEY_BYTES && offsetof(ThreadKey, tid) == 8);
inline constexpr uintptr_t kKeyTaken = 1;

struct alignas(64) ThreadSlot {
  Thread thread;
};
static_assert(sizeof(ThreadSlot) == 320 && offsetof(ThreadSlot, thread) == 0);  // thread_x86_64.S

extern "C" {
// Entries of the same index belong to the same thread.
extern __attribute__((visibility("hidden"))) ThreadKey penna_thread_keys[kMostThreads + kThreadProbes];
extern __attribute__((visibility("hidden"))) ThreadSlot penna_thread_slots[kMostThreads + kThreadProbes];
// rax: the distance of `thread` from the thread pointer. Clobbers nothing else but flags. Async-signal-safe.
__attribute__((visibility("hidden"))) void penna_thread_offset();
}

// For the recorder, which closes the chunks of threads that do not run.
void describe_threads(penna_attachment* shared);

}  // namespace penna::agent
