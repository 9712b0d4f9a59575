// SPDX-License-Identifier: MIT
// read_lock(): the one decoder of the records of locks and of everything else that threads wait for.
//
// Why: analyses need not care whether a LOCK has a stack, or that an rwlock is taken in two ways.
// Invariant: for records that are not a lock's, and hostile ones with an unknown sync, the action is kNone.
#pragma once

#include <cstdint>

#include "recording/records.h"

namespace penna {

enum class LockAction : uint8_t {
  kNone,
  kTaken,            // without waiting: stack, if known
  kBusy,             // tried and not taken
  kRequested,        // a wait begins: stack, holder; for a condition: sync, address
  kWaited,           // the wait ended: begin, stack, holder, end
  kReleased,         // stack, if known
  kConditionWaited,  // the mutex is held again: condition, begin, stack, end
  kWoke,             // stack, most
  kMade,             // stack
  kGone,
};

struct LockRecord {
  LockAction action = LockAction::kNone;
  penna_sync sync = PENNA_SYNC_MUTEX;
  bool tried = false;  // kTaken: by a trylock, which never waits
  uint64_t address = 0;
  uint64_t begin = 0;      // of a wait, in ticks
  uint64_t condition = 0;  // address; 0: none
  uint32_t stack = 0;      // 0: not known
  uint32_t holder = 0;     // tid when the wait began; 0: not known
  uint32_t end = 0;        // penna_wait_end; may be unknown
  uint32_t most = 0;       // maximum number woken; UINT32_MAX: all
};

inline LockRecord read_lock(const Record& record) {
  const auto lock = [](LockAction action, uint64_t word, uint32_t stack = 0) {
    const auto sync = static_cast<uint32_t>(word >> 56) & ~uint32_t{PENNA_SYNC_TRIED};
    LockRecord read;
    read.action = sync < PENNA_SYNC_COUNT ? action : LockAction::kNone;
    read.sync = static_cast<penna_sync>(sync < PENNA_SYNC_COUNT ? sync : 0);
    read.tried = (word >> 56 & PENNA_SYNC_TRIED) != 0;
    read.address = word & PENNA_ADDRESS_MASK;
    read.stack = stack;
    return read;
  };
  const auto lock_at = [&](LockAction action) {
    const auto at = record.as<penna_lock_at>();
    LockRecord read = lock(action, at.lock, at.stack);
    read.holder = at.owner;
    return read;
  };
  switch (record.kind) {
    case PENNA_KIND_LOCK: return lock(LockAction::kTaken, record.as<penna_lock>().lock);
    case PENNA_KIND_UNLOCK: return lock(LockAction::kReleased, record.as<penna_lock>().lock);
    case PENNA_KIND_LOCK_BUSY: return lock(LockAction::kBusy, record.as<penna_lock>().lock);
    case PENNA_KIND_LOCK_GONE: return lock(LockAction::kGone, record.as<penna_lock>().lock);
    case PENNA_KIND_LOCK_AT: return lock_at(LockAction::kTaken);
    case PENNA_KIND_UNLOCK_AT: return lock_at(LockAction::kReleased);
    case PENNA_KIND_LOCK_REQUEST: return lock_at(LockAction::kRequested);
    case PENNA_KIND_LOCK_MADE: return lock_at(LockAction::kMade);
    case PENNA_KIND_LOCK_WAIT: {
      const auto wait = record.as<penna_lock_wait>();
      LockRecord read = lock(LockAction::kWaited, wait.lock, wait.stack);
      read.begin = wait.begin;
      read.holder = wait.owner;
      read.end = wait.end;
      return read;
    }
    case PENNA_KIND_COND_WAIT: {
      const auto wait = record.as<penna_cond_wait>();
      LockRecord read = lock(LockAction::kConditionWaited, wait.lock, wait.stack);
      read.begin = wait.begin;
      read.condition = wait.condition;
      read.end = wait.end;
      return read;
    }
    case PENNA_KIND_WAKE: {
      const auto wake = record.as<penna_wake>();
      LockRecord read = lock(LockAction::kWoke, wake.lock, wake.stack);
      read.most = wake.most;
      return read;
    }
    default: return {};
  }
}

}  // namespace penna
