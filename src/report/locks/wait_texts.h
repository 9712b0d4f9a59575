// SPDX-License-Identifier: MIT
// Names of threads, locks and stacks in the reports on who waits for whom.
// Invariant: every object has a name, if only its kind and its address.
#pragma once

#include <string>
#include <vector>

#include "model/locks/holder_tracker.h"
#include "report/locks/lock_names.h"
#include "report/table.h"

namespace penna {

// "mutex", "rwlock", "condition variable".
const char* sync_text(penna_sync sync);

class WaitTexts {
 public:
  // `locks`, which distinguishes nameless locks, and `blocks` may be null. `frames`: shown per stack, 0: all. `start`:
  // ticks from which times count.
  WaitTexts(const HolderTracker& held, Names& names, const Locks* locks, const LockBlocks* blocks, size_t frames,
            uint64_t start)
      : held_(held),
        names_(names),
        locks_(locks),
        lock_names_(held.recording(), names, blocks),
        frames_(frames == 0 ? SIZE_MAX : frames),
        start_(start) {}

  // "mutex `counter_lock`", "mutex at +40 in the block of 112 B that make_queue (queue.cc:31) allocated", "mutex made
  // in main (app.cc:5)", "mutex at 0x7f..."; for a join "the end of worker (tid 12)".
  std::string object(uint32_t object) const;
  std::string thread(uint32_t thread) const;  // "worker (tid 12)"
  // A line, followed by the frames of the stack; without a stack (0) the line says so.
  void add_stack(std::vector<TableDetail>& details, const std::string& line, uint32_t process, uint32_t stack) const;
  int64_t since_start(uint64_t ticks) const;  // nanoseconds
  int64_t pid(uint32_t process) const { return recording().processes()[process].process.pid; }

  const HolderTracker& held() const { return held_; }
  const Recording& recording() const { return held_.recording(); }
  Names& names() const { return names_; }

 private:
  const LockStats* stats_of(const SyncObject& object) const;

  const HolderTracker& held_;
  Names& names_;
  const Locks* locks_;
  LockNames lock_names_;
  size_t frames_;
  uint64_t start_;
};

}  // namespace penna
