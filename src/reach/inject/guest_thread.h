// SPDX-License-Identifier: MIT
// The guest's thread (guest.h), looked at from outside: whether it is there, and whether it waits for a lock. The agent
// is loaded by the process's own dynamic linker, whose lock another thread may hold: for as long as a constructor runs,
// or for ever.
//
// Invariant: only looks; a guest that runs, or waits for the recorder's answer, does not wait for a lock.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>

#include "base/remote_ptr.h"

namespace penna {

// By the name that it gives itself. 0: there is none, or it has not begun.
pid_t guest_thread_of(pid_t pid);

// How long the guest has been waiting for a lock.
class LockWatch {
 public:
  explicit LockWatch(pid_t pid) : pid_(pid) {}
  // Cheap: it looks every 20 ms at most. The guest may be about to start.
  std::chrono::milliseconds waited();
  // Where in the process the lock is; null: it has never been seen waiting.
  RemotePtr<uint32_t> lock() const { return lock_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool waits();
  pid_t pid_, guest_ = 0;
  RemotePtr<uint32_t> lock_;
  Clock::time_point looked_ = Clock::now(), since_ = looked_;
};

}  // namespace penna
