// SPDX-License-Identifier: MIT
// The records of locks and waits, for tests of what is made of them. Invariant: as the agent writes them.
#pragma once

#include "model/held_locks.h"
#include "recording_builder.h"

namespace penna {

inline uint64_t sync_word(penna_sync sync, uint64_t address) { return address | uint64_t{sync} << 56; }

inline void lock_at(ThreadBuilder& thread, uint64_t lock, uint32_t stack, uint64_t time) {
  thread.record(PENNA_KIND_LOCK_AT, time, penna_lock_at{lock, stack, 0});
}
inline void unlock_at(ThreadBuilder& thread, uint64_t lock, uint32_t stack, uint64_t time) {
  thread.record(PENNA_KIND_UNLOCK_AT, time, penna_lock_at{lock, stack, 0});
}
inline void request(ThreadBuilder& thread, uint64_t lock, uint32_t stack, uint64_t time, uint32_t owner = 0) {
  thread.record(PENNA_KIND_LOCK_REQUEST, time, penna_lock_at{lock, stack, owner});
}
inline void wake(ThreadBuilder& thread, uint64_t lock, uint32_t stack, uint64_t time, uint32_t most = 1) {
  thread.record(PENNA_KIND_WAKE, time, penna_wake{lock, stack, most});
}
// The whole of a wait.
inline void wait_for(ThreadBuilder& thread, uint64_t lock, uint32_t stack, uint64_t begin, uint64_t end,
                     uint32_t owner = 0, uint32_t how = PENNA_WAIT_GOT) {
  request(thread, lock, stack, begin, owner);
  thread.lock_wait(lock, begin, end, stack, owner, how);
}

// All lock events through HeldLocks and one pass that looks on.
template <typename Pass>
void run_locks(const Recording& recording, HeldLocks& held, Pass&& pass) {
  for_each_event(recording, {.classes = kLockEvents}, [&](const Event& event) { pass(event, held.take(event)); });
}

}  // namespace penna
