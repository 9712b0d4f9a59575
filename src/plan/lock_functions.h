// SPDX-License-Identifier: MIT
// The functions of locks that are part of a file, and how each can be entered: those that are known (known_locks.inc),
// and those that a user names (record --lock-functions).
//
// Invariant: either all of a lock's functions in the file are returned or none: otherwise it would be recorded as taken
// and never as released.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "penna/patch_plan.h"
#include "plan/detour.h"
#include "symbols/elf/elf_file.h"

namespace penna {

// A function that a user has named.
struct WantedFunction {
  std::string text;  // as typed
  std::function<bool(const std::string& name)> matches;
};

// The functions of a program's own lock.
struct OwnLock {
  std::string text;  // as typed
  WantedFunction takes, gives;
  WantedFunction tries;                          // empty: none
  penna_lock_answer answer = PENNA_ANSWER_NONE;  // of `tries`
};

struct LockFunction {
  std::string lock;  // what it is called
  std::string name;  // demangled
  DetourSite site;
  penna_lock_role role = PENNA_LOCK_TAKES;
  penna_lock_answer answer = PENNA_ANSWER_NONE;
  penna_sync sync = PENNA_SYNC_OWN;
  penna_lock_subject subject = PENNA_SUBJECT_FIRST;
  int tried_by = -1;  // index among those found
};

struct RefusedLock {
  std::string lock;  // what it is called
  std::string function, reason;
};

struct LockFunctions {
  std::vector<LockFunction> found;
  std::vector<RefusedLock> refused;
  std::vector<size_t> own;  // indices of the OwnLocks of which the file has a function that takes it
};

// A function that begins with a compiler's preparation for recording calls, which is left alone. `end` 0: it is entered
// already.
struct PreparedBeginning {
  uint64_t function, end;
};

// `is_library`: its exported functions are reached through the agent, if that has them, too. `prepared`: called only if
// there are lock functions at all, which few files have.
LockFunctions find_lock_functions(const ElfFile& file, bool is_library, std::span<const OwnLock> own,
                                  const std::function<std::vector<PreparedBeginning>()>& prepared);

}  // namespace penna
