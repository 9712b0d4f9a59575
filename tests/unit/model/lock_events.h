// SPDX-License-Identifier: MIT
// The records of locks and waits, for tests of their analyses. Invariant: as the agent writes them.
#pragma once

#include <gtest/gtest.h>

#include "model/locks/holder_tracker.h"
#include "recording_builder.h"

namespace penna {

inline uint64_t sync_word(penna_sync sync, uint64_t address) { return ThreadBuilder::of_sync(sync, address); }

inline void lock_at(ThreadBuilder& thread, uint64_t lock, uint32_t stack, uint64_t time) {
  thread.lock_at(lock, time, stack);
}
inline void unlock_at(ThreadBuilder& thread, uint64_t lock, uint32_t stack, uint64_t time) {
  thread.unlock_at(lock, time, stack);
}
inline void request(ThreadBuilder& thread, uint64_t lock, uint32_t stack, uint64_t time, uint32_t owner = 0) {
  thread.lock_request(lock, time, stack, owner);
}
inline void wake(ThreadBuilder& thread, uint64_t lock, uint32_t stack, uint64_t time, uint32_t most = 1) {
  thread.wake(lock, time, most, stack);
}
// The whole of a wait.
inline void wait_for(ThreadBuilder& thread, uint64_t lock, uint32_t stack, uint64_t begin, uint64_t end,
                     uint32_t owner = 0, uint32_t how = PENNA_WAIT_GOT) {
  request(thread, lock, stack, begin, owner);
  thread.lock_wait(lock, begin, end, stack, owner, how);
}

// One process whose threads a test makes as it names them.
class LockEventsTest : public testing::Test {
 protected:
  ThreadBuilder& thread(uint32_t serial) { return build.thread(process, serial); }
  RecordingBuilder build;
  uint32_t process = build.process(100);
};

// All lock events through HolderTracker and one pass that looks on.
template <typename Pass>
void run_locks(const Recording& recording, HolderTracker& held, Pass&& pass) {
  for_each_event(recording, {.classes = kLockEvents}, [&](const Event& event) { pass(event, held.take(event)); });
}

}  // namespace penna
