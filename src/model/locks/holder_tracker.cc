// SPDX-License-Identifier: MIT
// See holder_tracker.h.
#include "model/locks/holder_tracker.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/events/sampling.h"
#include "model/events/summary.h"

namespace penna {
namespace {

// An rwlock is one object, whether taken for reading or writing.
penna_sync kind_of_object(penna_sync sync) { return sync == PENNA_SYNC_WRITE ? PENNA_SYNC_READ : sync; }

// What a thread has from LOCK to UNLOCK. A once is held only by the thread that runs the initialiser: threads that
// waited for it hold nothing afterwards.
bool can_be_held(penna_sync sync) { return is_lock(sync) || sync == PENNA_SYNC_ONCE; }

}  // namespace

HolderTracker::HolderTracker(const Recording& recording)
    : recording_(recording),
      threads_(recording.threads().size()),
      index_(recording),
      tids_(recording.processes().size()),
      parents_(process_parents(recording)),
      is_sampled_(lock_sample(recording) > 1) {
  // Several threads may have used a tid in turn: they are distinguished by their first events.
  for (uint32_t i = 0; i < recording.threads().size(); ++i) {
    const RecordedThread& thread = recording.threads()[i];
    const auto chunks = recording.chunks(i);
    all_tids_.push_back({thread.tid, chunks.empty() ? 0 : chunks[0].time_begin, i});
  }
  std::sort(all_tids_.begin(), all_tids_.end(), [](const Tid& a, const Tid& b) {
    return std::tie(a.tid, a.begin, a.thread) < std::tie(b.tid, b.begin, b.thread);
  });
  for (const Tid& one : all_tids_) tids_[recording.threads()[one.thread].process].push_back(one);
}
HolderTracker::HolderTracker(const Recording& recording, uint32_t only_thread)
    : recording_(recording),
      is_of_one_thread_(true),
      first_thread_(only_thread),
      threads_(1),
      index_(recording.threads()[only_thread].process) {}
HolderTracker::~HolderTracker() = default;

// The last one that began before `time`; else the first one with this tid, whose first record may be later than that.
uint32_t HolderTracker::find_tid(const std::vector<Tid>& tids, uint32_t tid, uint64_t time) {
  auto behind = std::upper_bound(tids.begin(), tids.end(), std::pair(tid, time), [](const auto& value, const Tid& one) {
    return value.first != one.tid ? value.first < one.tid : value.second < one.begin;
  });
  if (behind != tids.begin() && (behind - 1)->tid == tid) return (behind - 1)->thread;
  return behind != tids.end() && behind->tid == tid ? behind->thread : kNoIndex;
}

uint32_t HolderTracker::object_of(const Event& event, penna_sync sync, uint64_t address) {
  const penna_sync kind = kind_of_object(sync);
  // User space addresses have 47 bits (56 with five-level page tables): the kind fits above.
  const uint64_t key = address | uint64_t{kind} << 56;
  ThreadState& thread = state_of(event.thread);
  // Fast path: the lock that was taken is released next. An epoch ends whenever an object is forgotten.
  if (thread.key == key && thread.epoch == epoch_) return thread.object;
  const uint32_t next = spare_.empty() ? static_cast<uint32_t>(objects_.size()) : spare_.back();
  bool added = false;
  const uint32_t object = index_.find(event.process, lock_kind(kind), address, next, &added);
  if (added) add_object({event.process, kind, address, event.time});
  if (!seen_[object]) {
    seen_[object] = true;
    locks_ += is_lock(kind);
  }
  thread.key = key;
  thread.epoch = epoch_;
  return thread.object = object;
}

void HolderTracker::add_object(const SyncObject& object) {
  if (!spare_.empty()) {
    objects_[spare_.back()] = object;
    spare_.pop_back();
    return;
  }
  objects_.push_back(object);
  holds_.emplace_back();
  readers_of_.push_back(kNoIndex);
  was_held_.push_back(false);
  seen_.push_back(false);
}

// Forgets an object that the thread is done with, so that a timeline of one thread needs memory for what it holds, not
// for all that it ever held.
void HolderTracker::recycle(const ThreadState& thread, uint32_t object) {
  if (object == kNoIndex || thread.wait.object == object || thread.left.object == object) return;
  SyncObject& what = objects_[object];
  if (what.process == kNoIndex || holder(object).thread != kNoIndex) return;
  index_.forget(what.process, lock_kind(what.sync), what.address, object);
  what.process = kNoIndex;  // it is in spare_
  spare_.push_back(object);
  ++epoch_;
}

// From now on another object is at this address.
uint32_t HolderTracker::forget(const Event& event, penna_sync sync, uint64_t address) {
  uint32_t object;
  if (!index_.retire(event.process, lock_kind(sync), address, &object)) return kNoIndex;
  drop_object(object);
  return object;
}

// No thread holds it any more, or will use it again. Its index stays reserved, as others may still refer to it.
void HolderTracker::drop_object(uint32_t object) {
  drop_held(holds_[object], object);
  holds_[object] = {};
  drop_readers(object);
  ++epoch_;
}

// First handles what invalidates earlier knowledge (lost events, memory that was freed or reallocated), then the event
// itself.
LockStep HolderTracker::begin(const Event& event) {
  LockStep step;
  step.read = read_lock(event.record);
  const LockRecord& read = step.read;
  gone_.clear();
  const auto is_gone = [this](uint32_t object) {
    drop_object(object);
    gone_.push_back(object);
  };
  if (event.after_loss) drop_holds_of(event.thread);
  index_.pass(event.time, is_gone);
  if (read.action == LockAction::kNone) {
    if (class_bit(event.record.kind) == kAllocEvents) index_.memory(event, is_gone);
    return step;
  }
  if (read.action == LockAction::kMade) step.remade = forget(event, read.sync, read.address);
  if (read.action == LockAction::kConditionWaited) {
    step.object = object_of(event, PENNA_SYNC_CONDITION, read.condition);
    step.mutex = object_of(event, read.sync, read.address);
  } else {
    step.object = object_of(event, read.sync, read.address);
  }
  return step;
}

void HolderTracker::apply(const Event& event, LockStep& step) {
  const LockRecord& read = step.read;
  if (read.action == LockAction::kNone) return;
  ThreadState& thread = state_of(event.thread);
  const uint32_t left = thread.left.object;
  thread.last = event.time;
  const bool ends_wait = read.action == LockAction::kWaited || read.action == LockAction::kConditionWaited;
  if (thread.wait.is_open() && !ends_wait) {
    // A wait too short for record --min-wait ends like an acquisition that found the lock free. Otherwise a waiting
    // thread writes nothing, except the last one to arrive at a barrier: it wakes the others.
    const bool last_to_come = read.action == LockAction::kWoke && read.sync == PENNA_SYNC_BARRIER;
    if (read.action == LockAction::kTaken && thread.wait.object == step.object) {
      step.asked = std::exchange(thread.wait, {});
    } else if (!last_to_come) {
      drop_wait(event, step);
    }
  }
  if (ends_wait) end_wait(event, step.object, step);
  switch (read.action) {
    case LockAction::kTaken: step.acquired = can_be_held(read.sync) && acquire(event, step.object, step); break;
    case LockAction::kWaited:
      if ((read.end == PENNA_WAIT_GOT || read.end == PENNA_WAIT_OWNER_DIED) && is_lock(read.sync))
        step.acquired = acquire(event, step.object, step);
      break;
    case LockAction::kConditionWaited:
      step.acquired = can_be_held(read.sync) && acquire(event, step.mutex, step);
      break;
    case LockAction::kReleased: release(event, step); break;
    case LockAction::kRequested: request(event, step); break;
    case LockAction::kGone: forget(event, read.sync, read.address); break;
    default: break;
  }
  if (!is_of_one_thread_) return;
  for (const uint32_t object : {step.object, step.mutex, step.remade, left}) recycle(thread, object);
}

// Holds stay; their times count from the beginning of the range. Open waits begin there.
void HolderTracker::begin_range(uint64_t begin) {
  from_ = begin;
  ++epoch_;
  seen_.assign(seen_.size(), false);
  locks_ = too_many_ = unfinished_ = 0;
  for (ThreadState& thread : threads_)
    if (thread.wait.is_open()) thread.wait.begin = std::max(thread.wait.begin, begin);
}

// A waiting thread writes nothing: if it writes something else, the end of its wait is missing, or it is in a signal
// handler and will go on waiting. The latter shows when the end does come (`resumed`).
void HolderTracker::drop_wait(const Event& event, LockStep& step) {
  ThreadState& thread = state_of(event.thread);
  step.dropped = thread.left = std::exchange(thread.wait, {});
  thread.left_at = event.time;
  ++unfinished_;
}

void HolderTracker::request(const Event& event, LockStep& step) {
  const LockRecord& read = step.read;
  state_of(event.thread).wait = {step.object, read.sync, read.stack, read.holder, event.time};
  // The request says who held the lock, if the lock itself records its owner: this is news only if no holder is known.
  if (read.holder == 0 || !knows_holder(read.sync) || holder(step.object).thread != kNoIndex) return;
  // Taken before the recording began. (Otherwise it is being handed over, and the owner is the thread that has just
  // released it.)
  uint32_t thread = thread_of(event.process, read.holder, event.time);
  if (thread != kNoIndex && was_held_[step.object] && !is_sampled_) return;
  if (thread == kNoIndex) thread = sharing_thread(event, step);
  if (thread == kNoIndex) return;
  LockHold& hold = holds_[step.object];
  hold.thread = thread;
  hold.depth = 1;
  hold.learned = true;
  const uint32_t its = recording_.threads()[thread].process;
  if (its == event.process) return;
  const SyncObject& object = objects_[step.object];
  if (const uint32_t* same = index_.peek(its, lock_kind(object.sync), object.address))
    hold.holder_stack = hold_of(thread, *same).stack;
}

// The owner of a lock in memory that processes share; kNoIndex: there may be none. A fork also copies held locks: an
// ancestor's thread that has held one since before the fork will not release the copy.
uint32_t HolderTracker::sharing_thread(const Event& event, const LockStep& step) const {
  const uint32_t thread = find_tid(all_tids_, step.read.holder, event.time);
  if (thread == kNoIndex) return kNoIndex;
  const uint32_t its = recording_.threads()[thread].process;
  uint32_t child = event.process;
  for (int hops = 0; parents_[child] != kNoIndex && hops < kMostAncestors; ++hops, child = parents_[child]) {
    if (parents_[child] != its) continue;
    const SyncObject& object = objects_[step.object];
    const uint32_t* same = index_.peek(its, lock_kind(object.sync), object.address);
    const bool taken_since = same != nullptr && hold_of(thread, *same).thread == thread &&
                             hold_of(thread, *same).since > recording_.processes()[child].process.start_ticks;
    return taken_since ? thread : kNoIndex;
  }
  return thread;
}

bool HolderTracker::owner_is_elsewhere(uint32_t thread) const {
  const OpenWait& wait = state_of(thread).wait;
  return wait.is_open() && wait.owner != 0 &&
         thread_of(recording_.threads()[thread].process, wait.owner, wait.begin) == kNoIndex;
}

void HolderTracker::end_wait(const Event& event, uint32_t object, LockStep& step) {
  ThreadState& thread = state_of(event.thread);
  // A thread that waits for several futexes requests one, and may be woken by another.
  const bool is_same = thread.wait.sync == PENNA_SYNC_FUTEX && step.read.sync == PENNA_SYNC_FUTEX &&
                       thread.wait.is_open() && thread.wait.begin == std::max(step.read.begin, from_);
  if (is_same) thread.wait.object = object;
  if (thread.wait.object == object) {
    step.asked = std::exchange(thread.wait, {});
  } else if (thread.wait.is_open()) {
    drop_wait(event, step);
  } else if (thread.left.object == object && thread.left.begin == step.read.begin) {
    step.resumed = true;
    step.read.begin = thread.left_at;
    thread.left = {};
    --unfinished_;
  }
  // Not before the range; a time later than the event itself is wrong and stays wrong.
  step.read.begin = std::max(step.read.begin, std::min(from_, event.time));
  // For a join the "holder" is the joined thread: it has ended, and its tid may be reused.
  if (step.read.sync != PENNA_SYNC_JOIN || step.read.action != LockAction::kWaited) return;
  uint32_t ended = holds_[object].thread;
  if (ended == kNoIndex && step.read.holder != 0) ended = thread_of(event.process, step.read.holder, event.time);
  step.hold = holds_[object];
  step.hold.thread = ended;
  holds_[object] = {};
  if (ended != kNoIndex && step.read.end == PENNA_WAIT_GOT) state_of(ended).ended = true;
}

// False: the thread already held it (recursion), and nothing changed for others.
bool HolderTracker::acquire(const Event& event, uint32_t object, const LockStep& step) {
  const LockRecord& read = step.read;
  LockHold taken;
  taken.thread = event.thread;
  taken.depth = 1;
  taken.own_stack = read.stack;
  // An acquisition without a wait has no stack of its own; the request before it may have had one.
  taken.stack = read.stack != 0 || read.action != LockAction::kTaken ? read.stack : step.asked.stack;
  taken.waited = read.action != LockAction::kTaken;
  taken.shared = read.sync == PENNA_SYNC_READ;
  taken.since = event.time;
  if (taken.shared) return read_acquire(object, taken);
  LockHold& hold = holds_[object];
  const bool can_be_taken_again = objects_[object].sync != PENNA_SYNC_ONCE;  // else the previous call was left
  if (hold.thread == event.thread && !hold.learned && can_be_taken_again) {
    ++hold.depth;
    return false;
  }
  drop_held(hold, object);  // its unlock is missing
  drop_readers(object);
  was_held_[object] = true;
  hold = taken;
  add_held(event.thread, object);
  return true;
}

// Readers of a lock are a list: there are few, and each releases its own hold.
bool HolderTracker::read_acquire(uint32_t object, const LockHold& hold) {
  LockHold& alone = holds_[object];
  drop_held(alone, object);
  alone = {};
  was_held_[object] = true;
  if (readers_of_[object] == kNoIndex) {
    readers_of_[object] = static_cast<uint32_t>(readers_.size());
    readers_.emplace_back();
  }
  std::vector<LockHold>& readers = readers_[readers_of_[object]];
  for (LockHold& reader : readers) {
    if (reader.thread != hold.thread) continue;
    ++reader.depth;
    return false;
  }
  readers.push_back(hold);
  add_held(hold.thread, object);
  return true;
}

// For a lock that the thread does not hold nothing is known, and nothing changes.
void HolderTracker::release(const Event& event, LockStep& step) {
  LockHold& alone = holds_[step.object];
  if (alone.thread == event.thread) {
    if (--alone.depth != 0) return;
    step.hold = std::exchange(alone, {});
  } else {
    if (readers_of_[step.object] == kNoIndex) return;
    std::vector<LockHold>& readers = readers_[readers_of_[step.object]];
    const auto mine =
        std::find_if(readers.begin(), readers.end(), [&](const LockHold& one) { return one.thread == event.thread; });
    if (mine == readers.end() || --mine->depth != 0) return;
    step.hold = *mine;
    readers.erase(mine);
  }
  step.released = true;
  drop_held(step.hold, step.object);
}

void HolderTracker::add_held(uint32_t thread, uint32_t object) {
  std::vector<uint32_t>& held = state_of(thread).held;
  ++state_of(thread).count;
  if (held.size() < kMostHeld) {
    held.push_back(object);
  } else {
    ++too_many_;
  }
}

// Searched from the back: the last one taken is most often the first one released. Learned holds are in no list.
void HolderTracker::drop_held(const LockHold& hold, uint32_t object) {
  if (hold.thread == kNoIndex || hold.learned) return;
  --state_of(hold.thread).count;
  std::vector<uint32_t>& held = state_of(hold.thread).held;
  for (size_t i = held.size(); i-- > 0;) {
    if (held[i] != object) continue;
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

void HolderTracker::drop_readers(uint32_t object) {
  if (readers_of_[object] == kNoIndex) return;
  std::vector<LockHold>& readers = readers_[readers_of_[object]];
  for (const LockHold& reader : readers) drop_held(reader, object);
  readers.clear();
}

// The thread may have released its locks meanwhile; a hold wrongly forgotten costs one time, one wrongly kept blames
// the thread forever.
void HolderTracker::drop_holds_of(uint32_t thread) {
  ThreadState& state = state_of(thread);
  const auto drop = [&](uint32_t object) {
    if (holds_[object].thread == thread && !holds_[object].learned) holds_[object] = {};
    if (readers_of_[object] != kNoIndex)
      std::erase_if(readers_[readers_of_[object]], [thread](const LockHold& one) { return one.thread == thread; });
  };
  if (state.count == state.held.size()) {
    for (const uint32_t object : state.held) drop(object);
  } else {  // not all of them are listed
    for (uint32_t object = 0; object < objects_.size(); ++object) drop(object);
  }
  state.held.clear();
  state.count = 0;
}

LockHold HolderTracker::holder(uint32_t object) const {
  if (holds_[object].thread != kNoIndex) return holds_[object];
  const uint32_t readers = readers_of_[object];
  return readers == kNoIndex || readers_[readers].empty() ? LockHold{} : readers_[readers][0];
}

LockHold HolderTracker::hold_of(uint32_t thread, uint32_t object) const {
  LockHold result;
  for_each_holder(object, [&](const LockHold& hold) {
    if (hold.thread == thread) result = hold;
  });
  return result;
}

}  // namespace penna
