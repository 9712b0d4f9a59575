// SPDX-License-Identifier: MIT
// HolderTracker: which thread holds which locks at each moment, and what it waits for.
//
// Why separate: statistics, lock order, wait chains, deadlocks, critical paths, rows and timelines all need the same
// state: the tracker advances, and they observe.
// Usage:  HolderTracker held(recording);
//         for_each_event(recording, {.classes = kLockEvents}, [&](const Event& event) {
//           const LockStep step = held.take(event); ... });
// To see the holders as they were before an event, call begin() and apply() instead of take(), and look in between.
// Events must come merged in time order; if allocations are passed too, a lock in a newly allocated block is a new
// lock. Durations and times are ticks.
// A timeline sees one thread, often while the recording is still growing: its tracker takes only that thread's events,
// and learns nothing from others.
// Invariant: a lock has one holder or some readers, never both; a record that contradicts this replaces what was known.
// Memory: O(objects + threads); per thread at most kMostHeld locks are listed. For one thread: what it holds and waits
// for.
#pragma once

#include <cstdint>
#include <vector>

#include "model/events/events.h"
#include "model/events/lock_records.h"
#include "model/locks/lock_index.h"

namespace penna {

// What threads wait for: a lock, a condition variable, the end of a thread. At most one per kind and address;
// initialised again there, it is a new one.
struct SyncObject {
  uint32_t process = 0;                // index
  penna_sync sync = PENNA_SYNC_MUTEX;  // for an rwlock always PENNA_SYNC_READ
  uint64_t address = 0;
  uint64_t first_time = 0;
};

// Those that one thread takes and releases, in an order that matters.
inline bool is_lock(penna_sync sync) { return sync <= PENNA_SYNC_SPIN || sync == PENNA_SYNC_OWN; }
// Those whose holder is known before the wait ends.
inline bool knows_holder(penna_sync sync) {
  return is_lock(sync) || sync == PENNA_SYNC_ONCE || sync == PENNA_SYNC_JOIN;
}

struct LockHold {
  uint32_t thread = kNoIndex;
  uint32_t depth = 0;
  uint32_t stack = 0;  // where it was taken; 0: unknown
  bool shared = false;
  bool learned = false;  // known only from a waiter: `since` is unknown
  bool waited = false;   // taken at the end of a wait
  uint64_t since = 0;
  uint32_t own_stack = 0;     // same as `stack`, unless only the preceding request had it
  uint32_t holder_stack = 0;  // learned, for a thread of another process: where that took it; a stack of its process
};

// Requested, and not yet acquired.
struct OpenWait {
  uint32_t object = kNoIndex;  // kNoIndex: not waiting
  penna_sync sync = PENNA_SYNC_MUTEX;
  uint32_t stack = 0;
  uint32_t owner = 0;  // tid of the holder at that time; 0: unknown
  uint64_t begin = 0;
  bool is_open() const { return object != kNoIndex; }
};

// What one event means.
struct LockStep {
  LockRecord read;             // op kNone: nothing
  uint32_t object = kNoIndex;  // the event's object; for a condition wait the condition
  uint32_t mutex = kNoIndex;   // for a condition wait: what is held again
  uint32_t remade = kNoIndex;  // kMade: the object previously at its address
  bool acquired = false;       // the thread now holds the object (or mutex), and did not before
  bool released = false;       // the thread held the object, and no longer does: `hold` is what it was
  LockHold hold;
  OpenWait asked;    // the request that this event ends
  OpenWait dropped;  // a request of the thread whose end is missing: it went on
  // The end of a wait that had been dropped, for example because the thread was only in a signal handler; read.begin:
  // when the wait began.
  bool resumed = false;
};

class HolderTracker {
 public:
  static constexpr size_t kMostHeld = 32;

  explicit HolderTracker(const Recording& recording);
  // Follows one thread (index). Forgets objects that it neither holds nor waits for and reuses their indices: those of
  // a step are valid until the next one.
  HolderTracker(const Recording& recording, uint32_t only_thread);
  ~HolderTracker();

  LockStep take(const Event& event) {
    LockStep step = begin(event);
    apply(event, step);
    return step;
  }
  // What an event is about: read, object, mutex and remade. Holders and waiters are as before the event, except holds
  // that are impossible by now: locks in new memory (gone()), and those of threads with lost events.
  LockStep begin(const Event& event);
  void apply(const Event& event, LockStep& step);
  // Events of the thread were lost: it may have released what it held. begin() calls it when an event reports a loss.
  void drop_holds_of(uint32_t thread);
  // All events so far precede the range: holds and waits count from here on.
  void begin_range(uint64_t begin);

  const Recording& recording() const { return recording_; }
  const std::vector<SyncObject>& objects() const { return objects_; }
  // What lies at an address now; kNoIndex: nothing that was used.
  uint32_t object_at(uint32_t process, LockKind kind, uint64_t address) const {
    const uint32_t* object = index_.peek(process, kind, address);
    return object == nullptr ? kNoIndex : *object;
  }
  // Objects that the last event showed to be gone, besides one that it reports itself as gone or initialised again.
  const std::vector<uint32_t>& gone() const { return gone_; }
  // By thread (index): in the order in which it took them.
  const std::vector<uint32_t>& held_by(uint32_t thread) const { return state_of(thread).held; }
  uint32_t count_held_by(uint32_t thread) const { return state_of(thread).count; }  // all of them
  const OpenWait& wait_of(uint32_t thread) const { return state_of(thread).wait; }
  bool is_over(uint32_t thread) const { return state_of(thread).ended; }       // its end was observed
  uint64_t last_time(uint32_t thread) const { return state_of(thread).last; }  // of its last event here; 0: none
  // Who holds an object: of readers the first. For a join: the joined thread. thread = kNoIndex: none, or unknown.
  LockHold holder(uint32_t object) const;
  LockHold hold_of(uint32_t thread, uint32_t object) const;
  bool holds_alone(uint32_t thread, uint32_t object) const { return holds_[object].thread == thread; }
  template <typename Visit>
  void for_each_holder(uint32_t object, Visit&& visit) const {
    if (holds_[object].thread != kNoIndex) return visit(holds_[object]);
    if (readers_of_[object] == kNoIndex) return;
    for (const LockHold& reader : readers_[readers_of_[object]]) visit(reader);
  }
  // The process's thread that had this tid at that time; kNoIndex: none.
  uint32_t thread_of(uint32_t process, uint32_t tid, uint64_t time) const {
    return is_of_one_thread_ ? kNoIndex : find_tid(tids_[process], tid, time);
  }
  // What it waits for was held, but by no thread of its process.
  bool owner_is_elsewhere(uint32_t thread) const;

  uint64_t folded() const { return index_.folded(); }  // remade objects that count as those before them
  uint64_t locks() const { return locks_; }            // objects that are locks
  uint64_t too_many() const { return too_many_; }  // acquisitions for which the thread's other locks are not all known
  uint64_t unfinished() const { return unfinished_; }  // waits whose end is missing although the thread went on

 private:
  struct ThreadState {
    std::vector<uint32_t> held;
    uint32_t count = 0;  // number of locks it holds
    OpenWait wait;
    OpenWait left;  // the last one that was dropped,
    uint64_t left_at = 0;
    bool ended = false;
    uint64_t last = 0;
    // Cache of the last object used: most locks are released next.
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
  uint32_t first_thread_ = 0;  // index of the first thread in threads_
  std::vector<ThreadState> threads_;
  std::vector<SyncObject> objects_;
  std::vector<LockHold> holds_;       // by object: its exclusive hold
  std::vector<uint32_t> readers_of_;  // by object: index into readers_
  std::vector<bool> was_held_;        // by object: an acquisition is known
  std::vector<bool> seen_;            // by object: used in the range that is read
  std::vector<std::vector<LockHold>> readers_;
  std::vector<uint32_t> spare_;  // forgotten objects; with only one thread
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
  bool is_sampled_ = false;             // acquisitions are: not all are recorded
  uint64_t from_ = 0;                   // ticks: the beginning of the range
  uint64_t epoch_ = 1;                  // incremented when an object is forgotten
  uint64_t locks_ = 0, too_many_ = 0, unfinished_ = 0;
};

}  // namespace penna
