// SPDX-License-Identifier: MIT
// Timeline: what happened in a thread, line by line, nested like the calls: the model of `penna replay`.
//
// Usage:  for_each_timeline_line(recording, thread, {}, [&](const TimelineLine& line) { ...; return true; });
// The visitor returns bool: false ends the walk at once, so that `replay | head` reads no more than it shows.
// Spans nest like calls: one that was not ended (longjmp) ends with what surrounds it.
// Invariant: lines come in the order of the thread's events; every kEnter has one later kLeave at the same depth; every
// kSpanBegin one kSpanEnd.
// A HolderTracker for just this thread works out who holds what: a walk over one thread reads no others.
// Memory: the open calls, the locks held and waited for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "model/calls/call_matcher.h"
#include "model/events/events.h"
#include "model/locks/holder_tracker.h"
#include "recording/arguments.h"

namespace penna {

enum class LineKind : uint8_t {
  kEnter,           // f() {                    pc, stack
  kLeave,           // } /* f */                pc, stack, begin, duration, end
  kLeaf,            // f();                     pc, stack, begin, duration: nothing else happened inside
  kStrayExit,       // an exit without entry    pc, inherited; of a span: site
  kAllocation,      //                          address, size, family, stack
  kFree,            //                          address, family
  kReallocFailed,   //                          address: the kFree before it did not happen
  kMap,             //                          address, size, family = penna_map_how, stack
  kUnmap,           //                          address, size
  kPoolAllocation,  //                          address, size, site (of the pool), stack
  kPoolFree,        //                          address, site
  // Everything that threads wait for; `sync` says what it is.
  kLock,           // taken without waiting    address, stack (0: unknown)
  kLockRequest,    // a wait begins            address, owner, stack; also for conditions
  kLockWait,       // a wait for it ended      address, begin, duration, wait_end, owner, stack
  kOpenWait,       // it never ended           like kLockWait; last in its thread
  kLockBusy,       // trylock failed           address
  kUnlock,         //                          address, stack, begin, duration of the hold (0 if its begin is unknown)
  kConditionWait,  // the lock is held again   address = condition, lock, begin, duration, wait_end, stack
  kWake,           // signal, broadcast        address, size = maximum number woken (UINT32_MAX: all), stack
  kLockMade,       //                          address, stack
  kLockGone,       //                          address
  kPoint,          //                          decode_arguments(recording.site(process, site), *record); also the values
                   //                          of an unknown call
  kSpanBegin,      // a span, instead of       like kPoint
  kSpanEnd,        //   an entry and its exit  site (of its beginning), begin, duration, end
  kThreadName,     //                          decode_thread_name(*record)
  kLost,           //                          record->as<penna_lost>()
  kBlocked,        //                          duration: the thread waited for room in the recorder's memory
};

struct TimelineLine {
  LineKind kind = LineKind::kEnter;
  uint32_t process = 0, thread = 0;  // indices
  uint32_t depth = 0;                // open calls around it; kEnter and its kLeave have the same
  uint64_t time = 0;                 // ticks
  uint64_t begin = 0;                // ticks, if it has a duration; else = time
  uint64_t duration = 0;             // ticks
  CallEnd end = CallEnd::kExit;      // kLeave, kSpanEnd
  uint64_t pc = 0;
  uint64_t address = 0;
  uint64_t lock = 0;
  uint64_t size = 0;
  uint32_t family = 0;  // penna_alloc_family, or penna_map_how; may be unknown
  uint32_t stack = 0;   // for Names::stack() and origin(); 0 = none. Of a call: its call site; kFree: see --free-stacks
  uint32_t owner = 0;   // tid that held the lock; 0 = unknown
  penna_sync sync = PENNA_SYNC_MUTEX;  // for locks and waits
  uint32_t wait_end = 0;               // penna_wait_end; may be unknown
  uint32_t site = 0;                   // id
  // kStrayExit: the process was forked inside it. For a call: likewise, and its beginning is the fork.
  bool inherited = false;
  const Record* record = nullptr;  // null for kEnter, kLeave, kLeaf, kSpanEnd; valid during the visit
  // VALUES records, valid during the visit; null: none. Neither contains a call's `stack`.
  const Record* arguments = nullptr;  // kEnter, kLeave, kLeaf
  const Record* result = nullptr;     // kLeave, kLeaf
};

struct TimelineOptions {
  EventFilter filter{.classes = kAllRecords};  // its thread is set by for_each_timeline_line
  bool fold_leaves = true;  // kLeaf instead of kEnter and kLeave; holds an entry back until the next event
  bool keep_open = true;    // at the end, a kLeave (CallEnd::kOpen) for every call that was not left
};

// The state machine of one thread. on_line(const TimelineLine&) -> bool: false: no more lines are wanted. It is called
// for every line, hence the templates.
class Timeline {
 public:
  Timeline(const Recording& recording, uint32_t process, uint32_t thread, bool fold_leaves)
      : recording_(recording),
        process_(process),
        thread_(thread),
        fold_leaves_(fold_leaves),
        held_(recording, thread) {}

  // The lines of one event, which must be of this thread. False if on_line returned false.
  template <typename OnLine>
  bool add(const Event& event, OnLine&& on_line);
  // For live observers: reports an entry now that would be held back until the next event.
  template <typename OnLine>
  bool catch_up(OnLine&& on_line) {
    return flush(on_line);
  }
  // The thread has no more events: reports what was held back, and with `keep_open` the ends of open calls.
  template <typename OnLine>
  bool finish(bool keep_open, OnLine&& on_line);

  const CallCounts& calls() const { return matcher_.counts(); }
  // The kEnter of every open function among the `depth` outermost calls and spans, outermost first.
  template <typename Visit>
  void for_each_open(size_t depth, Visit&& visit) const;

 private:
  template <typename OnLine>
  struct Emit;
  template <typename OnLine>
  bool flush(OnLine& on_line);
  template <typename OnLine>
  bool add_call(const Event& event, OnLine& on_line);
  template <typename OnLine>
  bool add_jump(const Event& event, OnLine& on_line);
  template <typename OnLine>
  bool add_values(const Event& event, OnLine& on_line);
  // A point that begins or ends a span.
  template <typename OnLine>
  bool add_span(const Event& event, const Site& site, OnLine& on_line);
  uint64_t span_key(const Site& site);
  TimelineLine line(LineKind kind, uint64_t time) const;
  TimelineLine stray_exit(const Event& event);
  // The line of a record that is no call; false if it makes none.
  bool describe(const Event& event, TimelineLine& out);
  static bool describe_block(const Record& record, TimelineLine& out);
  bool describe_lock(const Event& event, TimelineLine& out);
  TimelineLine open_wait() const;

  // A record that outlives its event, and the call it belongs to.
  struct Kept {
    Kept(size_t depth, const Record& from);
    Kept(Kept&&) = default;  // its payload stays in place
    Kept& operator=(Kept&&) = default;
    size_t depth;
    std::vector<uint8_t> payload;
    Record record;
    uint32_t stack = 0;
    bool only_stack = false;  // it contains nothing else
  };
  Kept keep_arguments(const Record& values, const Site& site);
  bool has_arguments(uint64_t pc) const;
  // The innermost call was entered just now, and its arguments come next.
  bool waits_for_arguments() const {
    return pending_ && has_arguments(matcher_.stack().back().pc) &&
           (arguments_.empty() || arguments_.back().depth != matcher_.depth());
  }
  // What a thread reports about itself when it begins a chunk may come in between.
  static bool is_of_thread(LineKind kind) {
    return kind == LineKind::kThreadName || kind == LineKind::kLost || kind == LineKind::kBlocked;
  }

  // To the matcher spans are calls, with a number instead of a pc, which no code has.
  static constexpr uint64_t kSpanPc = uint64_t{1} << 63;
  static bool is_span(uint64_t pc) { return (pc & kSpanPc) != 0; }

  const Recording& recording_;
  uint32_t process_, thread_;
  bool fold_leaves_;
  bool pending_ = false;         // the kEnter of the innermost call was not reported yet
  std::vector<Kept> arguments_;  // of open calls, outermost first
  DecodedPoint decoded_;
  std::vector<Kept> result_;    // of the innermost call, which is about to end: zero or one
  std::optional<bool> forked_;  // continues_after_fork(), once it was needed
  uint64_t last_time_ = 0;
  CallMatcher matcher_;
  HolderTracker held_;
  OpenWait wait_;  // the last open wait. The tracker drops it when the thread goes on, as in a signal handler
  TextMap<uint64_t> span_numbers_;  // by provider and name
};

// The lines of one thread.
template <typename OnLine>
WalkReport for_each_timeline_line(const Recording& recording, uint32_t thread, const TimelineOptions& options,
                                  OnLine&& on_line);

// The lines of all threads, merged in time order. Leaves are not folded: a line held back would come late. What is open
// at the end comes last, thread by thread.
template <typename OnLine>
WalkReport for_each_merged_line(const Recording& recording, const TimelineOptions& options, OnLine&& on_line);

}  // namespace penna

#include "model/timeline/timeline_walk.h"
