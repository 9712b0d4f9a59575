// SPDX-License-Identifier: MIT
// penna diff --locks: the locks of two recordings side by side, by name.
//
// Invariant: locks with one name are one row; a lock in only one recording has no numbers for the other.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/locks/lock_blocks.h"
#include "model/locks/locks.h"
#include "model/names/names.h"
#include "report/calls/diff_report.h"

namespace penna {

struct NamedLockSums {
  uint64_t taken = 0, contended = 0, waits = 0;
  int64_t wait_ns = 0, hold_ns = 0;
};

// One recording's locks that can be held, with all that is needed of them.
struct LocksByName {
  std::map<std::string, NamedLockSums> locks;
  NamedLockSums all;
  int64_t count = 0;  // of locks, several of which may have one name
};

// `blocks`: where nameless locks lie; may be null.
LocksByName locks_by_name(const Recording& recording, const Locks& locks, Names& names, const LockBlocks* blocks);
Report lock_diff_report(const LocksByName& a, const LocksByName& b, const QuietLimit& quiet);

}  // namespace penna
