// SPDX-License-Identifier: MIT
// What a recording's locks come to, in sentences: the one that matters most, and those that tell of trouble of a known
// kind.
//
// Invariant: each finding holds the numbers that it is drawn from, and is there only when these say so.
#pragma once

#include <string>
#include <vector>

#include "report/locks/lock_names.h"

namespace penna {

// "3 threads lost 1.20 s of their 12.0 s waiting for queue.mutex, 81 % of it while flush (flush.cc:31) held it."
// `worst`: the lock that it is about; null: none of those wanted was waited for.
std::string lock_verdict(const Recording& recording, const Locks& locks, const LockNames& name_of,
                         const LockStats* worst, const LockFilter& wanted = {});
// Convoys, herds, wake-ups that were lost, waits that did not end, what was left out; of the locks that are wanted.
std::vector<std::string> lock_findings(const Recording& recording, const Locks& locks, const LockNames& name_of,
                                       const LockFilter& wanted = {});

// Who was waited for most of the time: of all places that held a lock, the one with the most
// waiting time.
struct MainHolder {
  // Null: nobody waited for this lock.
  const WaitPair* pair = nullptr;  // the longest of those that are summed up
  uint64_t time = 0;
};
// By index of the lock in Locks::all(). The pointers are into `locks`.
std::vector<MainHolder> main_holders(const Locks& locks);
// "flush (flush.cc:31)", "nobody: it was free", "unknown".
std::string other_side_text(const Locks& locks, const WaitPair& pair, const LockNames& name_of);

}  // namespace penna
