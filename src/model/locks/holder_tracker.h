// SPDX-License-Identifier: MIT
// HolderTracker: which thread holds which locks at each moment, and what it waits for.
//
// Why apart: statistics, the order of locks, chains of waits, deadlocks, critical paths, rows and timelines all ask the
// same: it takes the steps, and they observe.
// Usage:  HolderTracker held(recording);
//         for_each_event(recording, {.classes = kLockEvents}, [&](const Event& event) {
//           const LockStep step = held.take(event); ... });
// Who must see the holders as they were before an event calls begin() and apply() in place of take(), and looks
// between. Events must come merged in time order; given allocations, too, a lock in a new block of memory is another
// one. Durations and times are ticks.
// A timeline sees one thread, often while the recording still grows: its tracker takes the events of that thread alone,
// and learns nothing from others.
// Invariant: a lock has one holder or some readers, never both; a record that contradicts that replaces what was known.
// Memory: O(objects + threads); of a thread at most kMostHeld locks are listed. Of one thread: what it holds and waits
// for.
#pragma once

#include <cstdint>
#include <vector>

#include "model/events/events.h"
#include "model/events/lock_records.h"
#include "model/locks/lock_index.h"

namespace penna {

// What threads wait for: a lock, a condition variable, the end of a thread. One of each kind at an address; made anew
// there, it is another one.
struct SyncObject {
  uint32_t process = 0;                // index
  penna_sync sync = PENNA_SYNC_MUTEX;  // of an rwlock always PENNA_SYNC_READ
  uint64_t address = 0;
  uint64_t first_time = 0;
};

// Those that are taken and given back by the same thread, in an order that matters.
inline bool is_lock(penna_sync sync) { return sync <= PENNA_SYNC_SPIN || sync == PENNA_SYNC_OWN; }
// Those of which it is known for whom one waits, before the wait ends.
inline bool knows_holder(penna_sync sync) {
  return is_lock(sync) || sync == PENNA_SYNC_ONCE || sync == PENNA_SYNC_JOIN;
}

struct LockHold {
  uint32_t thread = kNoIndex;
  uint32_t depth = 0;
  uint32_t stack = 0;  // where it was taken; 0: not known
  bool shared = false;
  bool learned = false;  // only because somebody who waits for it says so: `since` is not known
  bool waited = false;   // it was got at the end of a wait
  uint64_t since = 0;
  uint32_t own_stack = 0;    // `stack`, unless only the request that came before told it
  uint32_t stack_there = 0;  // learned, of a thread of another process: where that took it; a stack of its process
};

// Asked for, and not got yet.
struct OpenWait {
  uint32_t object = kNoIndex;  // kNoIndex: it does not wait
  penna_sync sync = PENNA_SYNC_MUTEX;
  uint32_t stack = 0;
  uint32_t owner = 0;  // tid that held it then; 0: not known
  uint64_t begin = 0;
  bool is_open() const { return object != kNoIndex; }
};

// What one event meant.
struct LockStep {
  LockRecord read;             // op kNone: nothing
  uint32_t object = kNoIndex;  // that it is about; of a condition wait the condition
  uint32_t mutex = kNoIndex;   // of a condition wait: what is held again
  uint32_t remade = kNoIndex;  // kMade: the object that was at its address before
  bool acquired = false;       // the thread holds the object (or mutex), and did not before
  bool released = false;       // it held the object, and does not any more: `hold` is what it was
  LockHold hold;
  OpenWait asked;    // the request that this event is the end of
  OpenWait dropped;  // a request of the thread whose end is missing: it went on
  // The end of a wait that was dropped, because the thread had only been in a signal handler, say; read.begin: since
  // then.
  bool resumed = false;
};

class HolderTracker {
 public:
  static constexpr size_t kMostHeld = 32;

  explicit HolderTracker(const Recording& recording);
  // Follows one thread (index). Objects that it neither holds nor waits for are forgotten, their indices given again:
  // those of a step hold until the next one.
  HolderTracker(const Recording& recording, uint32_t only_thread);
  ~HolderTracker();

  LockStep take(const Event& event) {
    LockStep step = begin(event);
    apply(event, step);
    return step;
  }
  // What an event is about: read, object, mutex and remade. Who holds and waits is as before it, without what cannot be
  // held any more: of locks in memory that is new (gone()), and of threads some of whose events were lost.
  LockStep begin(const Event& event);
  void apply(const Event& event, LockStep& step);
  // Events of the thread were lost: it may have released meanwhile what it held. begin() calls it where an event says
  // so.
  void drop_holds_of(uint32_t thread);
  // All before was the past: what is held and waited for counts from here on.
  void begin_range(uint64_t begin);

  const Recording& recording() const { return recording_; }
  const std::vector<SyncObject>& objects() const { return objects_; }
  // What lies at an address now; kNoIndex: nothing that was used.
  uint32_t object_at(uint32_t process, LockKind kind, uint64_t address) const {
    const uint32_t* object = index_.peek(process, kind, address);
    return object == nullptr ? kNoIndex : *object;
  }
  // Objects that the last event found to be there no more, besides one that it says is gone or made anew itself.
  const std::vector<uint32_t>& gone() const { return gone_; }
  // Of a thread (index): in the order in which it took them.
  const std::vector<uint32_t>& held_by(uint32_t thread) const { return state_of(thread).held; }
  uint32_t count_held_by(uint32_t thread) const { return state_of(thread).count; }  // of all of them
  const OpenWait& wait_of(uint32_t thread) const { return state_of(thread).wait; }
  bool is_over(uint32_t thread) const { return state_of(thread).ended; }       // somebody saw its end
  uint64_t last_time(uint32_t thread) const { return state_of(thread).last; }  // of its last event here; 0: none
  // Who holds an object: of readers the first. Of a thread that is joined: itself. thread = kNoIndex: nobody, or not
  // known.
  LockHold holder(uint32_t object) const;
  LockHold hold_of(uint32_t thread, uint32_t object) const;
  bool holds_alone(uint32_t thread, uint32_t object) const { return holds_[object].thread == thread; }
  template <typename Visit>
  void for_each_holder(uint32_t object, Visit&& visit) const {
    if (holds_[object].thread != kNoIndex) return visit(holds_[object]);
    if (readers_of_[object] == kNoIndex) return;
    for (const LockHold& reader : readers_[readers_of_[object]]) visit(reader);
  }
  // The thread of a process that had this tid then; kNoIndex: none.
  uint32_t thread_of(uint32_t process, uint32_t tid, uint64_t time) const {
    return is_of_one_thread_ ? kNoIndex : find_tid(tids_[process], tid, time);
  }
  // What it waits for was held, by no thread of its process.
  bool owner_is_elsewhere(uint32_t thread) const;

  uint64_t folded() const { return index_.folded(); }  // objects made anew that count as those before them
  uint64_t locks() const { return locks_; }            // objects that are locks
  uint64_t too_many() const { return too_many_; }  // acquisitions of which the thread's other locks are not all known
  uint64_t unfinished() const { return unfinished_; }  // waits whose end is missing though the thread went on

 private:
  struct ThreadState {
    std::vector<uint32_t> held;
    uint32_t count = 0;  // of locks that it holds
    OpenWait wait;
    OpenWait left;  // the last one that was dropped,
    uint64_t left_at = 0;
    bool ended = false;
    uint64_t last = 0;
    // The object that it used last: most locks are given back next.
    uint64_t key = UINT64_MAX, epoch = 0;
    uint32_t object = kNoIndex;
  };
  ThreadState& state_of(uint32_t thread) { return threads_[thread - first_thread_]; }
  const ThreadState& state_of(uint32_t thread) const { return threads_[thread - first_thread_]; }
  uint32_t object_of(const Event& event, penna_sync sync, uint64_t address);
  void add_object(const SyncObject& object);
  void recycle(const ThreadState& thread, uint32_t object);
  uint32_t forget(const Event& event, penna_sync sync, uint64_t address);
  void drop_object(uint32_t object);
  void drop_wait(const Event& event, LockStep& step);
  void request(const Event& event, LockStep& step);
  void end_wait(const Event& event, uint32_t object, LockStep& step);
  bool acquire(const Event& event, uint32_t object, const LockStep& step);
  bool read_acquire(uint32_t object, const LockHold& hold);
  void release(const Event& event, LockStep& step);
  void add_held(uint32_t thread, uint32_t object);
  void drop_held(const LockHold& hold, uint32_t object);
  void drop_readers(uint32_t object);

  const Recording& recording_;
  bool is_of_one_thread_ = false;
  uint32_t first_thread_ = 0;  // index of the thread that threads_ begins with
  std::vector<ThreadState> threads_;
  std::vector<SyncObject> objects_;
  std::vector<LockHold> holds_;       // by object: of one who holds it alone
  std::vector<uint32_t> readers_of_;  // by object: index into readers_
  std::vector<bool> was_held_;        // by object: an acquisition is known
  std::vector<bool> seen_;            // by object: in the range that is read
  std::vector<std::vector<LockHold>> readers_;
  std::vector<uint32_t> spare_;  // objects that were forgotten; of one thread only
  LockIndex index_;
  std::vector<uint32_t> gone_;
  struct Tid {
    uint32_t tid;
    uint64_t begin;
    uint32_t thread;
  };
  uint32_t sharing_thread(const Event& event, const LockStep& step) const;
  static uint32_t find_tid(const std::vector<Tid>& tids, uint32_t tid, uint64_t time);
  std::vector<std::vector<Tid>> tids_;  // by process; sorted
  std::vector<Tid> all_tids_;           // of all processes; sorted
  std::vector<uint32_t> parents_;       // by process
  bool is_sampled_ = false;             // of acquisitions, not all are told
  uint64_t from_ = 0;                   // ticks: the beginning of the range
  uint64_t epoch_ = 1;                  // grows when an object is forgotten
  uint64_t locks_ = 0, too_many_ = 0, unfinished_ = 0;
};

}  // namespace penna
