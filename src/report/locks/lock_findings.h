// SPDX-License-Identifier: MIT
// What a recording's locks amount to, in sentences: the one that matters most, and those about known kinds of trouble.
//
// Invariant: each finding contains the numbers it is based on, and appears only if they support it.
#pragma once

#include <string>
#include <vector>

#include "report/locks/lock_names.h"

namespace penna {

// "3 threads lost 1.20 s of their 12.0 s waiting for queue.mutex, 81 % of it while flush (flush.cc:31) held it."
// `worst`: the lock that it is about; null: no wanted lock was waited for.
std::string lock_verdict(const Recording& recording, const Locks& locks, const LockNames& name_of,
                         const LockStats* worst, const LockFilter& wanted = {});
// Convoys, herds, lost wakeups, waits that did not end, what was left out; for the wanted locks.
std::vector<std::string> lock_findings(const Recording& recording, const Locks& locks, const LockNames& name_of,
                                       const LockFilter& wanted = {});

// The main holder: of all places that held a lock, the one with the most waiting time.
struct MainHolder {
  // Null: no thread waited for this lock.
  const WaitPair* pair = nullptr;  // the longest of those summed up
  uint64_t time = 0;
};
// By index of the lock in Locks::all(). The pointers are into `locks`.
std::vector<MainHolder> main_holders(const Locks& locks);
// "flush (flush.cc:31)", "none: it was free", "unknown".
std::string other_side_text(const Locks& locks, const WaitPair& pair, const LockNames& name_of);

}  // namespace penna
