// SPDX-License-Identifier: MIT
// See traced_events.h: what is recorded for functions that acquire and release locks.
//
// Whether a thread will wait is read from the lock's memory on entry, in the layout of the libc: glibc
// (sysdeps/nptl/bits/struct_mutex.h) and musl (src/internal/pthread_impl.h).
#include <cerrno>

#include "breakpoint/traced_events.h"

namespace penna {
namespace {

struct LockState {
  bool is_taken = false;
  uint32_t owner = 0;  // tid; 0: unknown
};

// The state may be stale before it is used: other threads run. It only decides whether a wait is announced; its length
// is measured. glibc has __lock (0: free), __count, __owner; musl has _m_type, _m_lock.
LockState mutex_state(const RemoteMemory& memory, RemotePtr<void> at, bool is_of_musl) {
  struct Glibc {
    int32_t lock;
    uint32_t count, owner;
  };
  struct Musl {
    int32_t type, lock;
  };
  if (is_of_musl) {
    // musl's lock word has flags in its upper two bits. A normal mutex holds EBUSY in place of its owner's id.
    constexpr int32_t kTid = 0x3fffffff, kNormal = 0;
    const auto mutex = memory.get_or_zero(at.as<Musl>());
    const int32_t word = mutex.lock & kTid;
    return {word != 0, (mutex.type & 15) == kNormal ? 0 : static_cast<uint32_t>(word)};
  }
  const auto mutex = memory.get_or_zero(at.as<Glibc>());
  return {mutex.lock != 0, mutex.owner};
}

// Readers wait only for a writer, writers for everyone. glibc has __cur_writer as its seventh word.
LockState rwlock_state(const RemoteMemory& memory, RemotePtr<void> at, bool is_of_musl, bool for_writing) {
  struct Glibc {
    uint32_t readers, writers, phase, writers_futex, pads[2], writer;
  };
  if (is_of_musl) {
    // Bit 31 means that there are waiters; the rest is the number of readers, or all ones.
    constexpr int32_t kWritten = 0x7fffffff;
    const int32_t word = memory.get_or_zero(at.as<int32_t>()) & kWritten;
    return {for_writing ? word != 0 : word == kWritten, 0};
  }
  // The lowest three bits of __readers are flags (PTHREAD_RWLOCK_READER_SHIFT).
  constexpr uint32_t kReaderShift = 3;
  const auto lock = memory.get_or_zero(at.as<Glibc>());
  const bool is_read = lock.readers >> kReaderShift != 0;
  return {lock.writer != 0 || (for_writing && is_read), lock.writer};
}

LockState lock_state(const RemoteMemory& memory, RemotePtr<void> lock, penna_sync sync, bool is_of_musl) {
  switch (sync) {
    case PENNA_SYNC_MUTEX: return mutex_state(memory, lock, is_of_musl);
    case PENNA_SYNC_READ: return rwlock_state(memory, lock, is_of_musl, false);
    case PENNA_SYNC_WRITE: return rwlock_state(memory, lock, is_of_musl, true);
    default: return {};
  }
}

// pthread_rwlock_unlock does not say whether it releases a read or a write lock. While a writer holds the lock, no
// other thread can release it: so it is a write lock if there is a writer.
penna_sync released(const RemoteMemory& memory, RemotePtr<void> lock, const Meaning& meaning) {
  if (meaning.sync != PENNA_SYNC_WRITE) return meaning.sync;
  return rwlock_state(memory, lock, meaning.is_of_musl, false).is_taken ? PENNA_SYNC_WRITE : PENNA_SYNC_READ;
}

uint64_t word_of(uint64_t lock, uint32_t sync) { return (lock & PENNA_ADDRESS_MASK) | uint64_t{sync} << 56; }

penna_wait_end end_of(int answer) {
  switch (answer) {
    case 0: return PENNA_WAIT_GOT;
    case EOWNERDEAD: return PENNA_WAIT_OWNER_DIED;
    case ETIMEDOUT: return PENNA_WAIT_TIMEOUT;
    default: return PENNA_WAIT_ERROR;
  }
}

}  // namespace

// Functions of pthread.h called by another one are part of it.
void TracedEvents::enter_lock(TracedThread& thread, EnteredCall call, const Registers& registers, uint64_t now) {
  TracedProcess& process = *thread.process;
  ChannelWriter& writer = *process.writer();
  for (const EnteredCall& other : thread.open)
    if (other.meaning.lock != LockCall::kNone) call.meaning.lock = LockCall::kNone;
  const uint64_t lock = call.arguments[0];
  call.sync = call.meaning.sync;
  const auto walk = [&] { call.stack = process.stack(registers.caller(call.returns_to)); };
  switch (call.meaning.lock) {
    case LockCall::kNone: break;
    case LockCall::kTake: {
      const LockState state = lock_state(process.memory(), RemotePtr<void>(lock), call.sync, call.meaning.is_of_musl);
      // The thread's own lock: a recursive mutex, or a deadlock, which is not a wait for another thread.
      call.waits = state.is_taken && state.owner != log_of(thread).tid;
      call.owner = state.owner;
      if (call.waits || process.wants_stack(lock)) walk();
      if (call.waits)
        writer.write(log_of(thread), PENNA_KIND_LOCK_REQUEST,
                     penna_lock_at{word_of(lock, call.sync), call.stack, call.owner}, PENNA_LOCKS, now);
      break;
    }
    case LockCall::kTry:
      if (process.wants_stack(lock)) walk();
      break;
    // Read before the release; recorded when the function has returned, with this time: earlier than the next
    // acquisition.
    case LockCall::kGive: call.sync = released(process.memory(), RemotePtr<void>(lock), call.meaning); break;
    case LockCall::kMake: walk(); break;
    case LockCall::kEnd: break;
    case LockCall::kWaitOn:
      walk();
      writer.write(log_of(thread), PENNA_KIND_UNLOCK, penna_lock{word_of(call.arguments[1], PENNA_SYNC_MUTEX)},
                   PENNA_LOCKS, now);
      writer.write(log_of(thread), PENNA_KIND_LOCK_REQUEST, penna_lock_at{word_of(lock, call.sync), call.stack, 0},
                   PENNA_LOCKS, now);
      break;
    case LockCall::kWakeOne:
    case LockCall::kWakeAll:
      walk();
      writer.write(
          log_of(thread), PENNA_KIND_WAKE,
          penna_wake{word_of(lock, call.sync), call.stack, call.meaning.lock == LockCall::kWakeOne ? 1 : UINT32_MAX},
          PENNA_LOCKS, now);
      // There is nothing to record at its return.
      call.meaning.lock = LockCall::kNone;
  }
  const bool returns = call.meaning.lock != LockCall::kNone || call.meaning.is_call;
  if (returns && !await_return(thread, call)) ++unreturned_;
}

void TracedEvents::lock_returned(TracedThread& thread, const EnteredCall& call, uint64_t result, uint64_t now) {
  ChannelWriter& writer = *thread.process->writer();
  ThreadLog& log = log_of(thread);
  const auto answer = static_cast<int>(result);
  const penna_wait_end end = end_of(answer);
  const bool got = end == PENNA_WAIT_GOT;
  const uint64_t lock = word_of(call.arguments[0], call.sync);
  const auto write_taken = [&](uint64_t word) {
    if (call.stack != 0)
      writer.write(log, PENNA_KIND_LOCK_AT, penna_lock_at{word, call.stack, 0}, PENNA_LOCKS, now);
    else
      writer.write(log, PENNA_KIND_LOCK, penna_lock{word}, PENNA_LOCKS, now);
  };
  switch (call.meaning.lock) {
    case LockCall::kTake:
      // A wait shorter than --min-wait counts as uncontended.
      if (got && (!call.waits || now - call.begin < writer.config().min_wait)) return write_taken(lock);
      if (call.waits || end == PENNA_WAIT_OWNER_DIED || end == PENNA_WAIT_TIMEOUT)
        writer.write(log, PENNA_KIND_LOCK_WAIT,
                     penna_lock_wait{lock, call.begin, call.stack, call.owner, static_cast<uint32_t>(end), 0},
                     PENNA_LOCKS, now);
      return;
    case LockCall::kTry:
      if (got) return write_taken(word_of(call.arguments[0], call.sync | uint32_t{PENNA_SYNC_TRIED}));
      if (answer == EBUSY) writer.write(log, PENNA_KIND_LOCK_BUSY, penna_lock{lock}, PENNA_LOCKS, now);
      return;
    case LockCall::kGive:
      if (got) writer.write(log, PENNA_KIND_UNLOCK, penna_lock{lock}, PENNA_LOCKS, call.begin);
      return;
    case LockCall::kMake:
      if (got) writer.write(log, PENNA_KIND_LOCK_MADE, penna_lock_at{lock, call.stack, 0}, PENNA_LOCKS, now);
      return;
    case LockCall::kEnd:
      if (got) writer.write(log, PENNA_KIND_LOCK_GONE, penna_lock{lock}, PENNA_LOCKS, call.begin);
      return;
    case LockCall::kWaitOn:
      writer.write(log, PENNA_KIND_COND_WAIT,
                   penna_cond_wait{word_of(call.arguments[1], PENNA_SYNC_MUTEX), call.arguments[0] & PENNA_ADDRESS_MASK,
                                   call.begin, call.stack, static_cast<uint32_t>(end)},
                   PENNA_LOCKS, now);
      return;
    default: return;
  }
}

}  // namespace penna
