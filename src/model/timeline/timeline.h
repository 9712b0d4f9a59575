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

// ---- Templates
// Invariant: pending_ is true only while the innermost call was entered by the immediately preceding event.

// Turns the matcher's calls into lines. Entering a call may yield none yet: it is held back (pending_) until it is
// known whether anything happens inside, or what its arguments are.
template <typename OnLine>
struct Timeline::Emit {
  Timeline& timeline;
  OnLine& on_line;
  bool go_on = true;
  const Event* begin = nullptr;  // of the span being entered

  void on_enter(OpenCall& call, size_t depth) {
    if (is_span(call.pc)) {
      call.tag = begin->record.as<penna_point>().site;
      give(LineKind::kSpanBegin, call, call.begin, depth, CallEnd::kExit);
    } else if (!call.inherited && (timeline.fold_leaves_ || timeline.has_arguments(call.pc))) {
      timeline.pending_ = true;
    } else {
      give(LineKind::kEnter, call, call.begin, depth, CallEnd::kExit);
    }
  }
  // A call that is still held back has nothing inside: it becomes one line.
  void on_leave(const OpenCall& call, uint64_t end, CallEnd how, size_t depth) {
    const LineKind call_kind = timeline.pending_ ? LineKind::kLeaf : LineKind::kLeave;
    give(is_span(call.pc) ? LineKind::kSpanEnd : call_kind, call, end, depth, how);
    timeline.pending_ = false;
    timeline.result_.clear();
    // Of this call, and of calls inside it that a jump has left.
    while (!timeline.arguments_.empty() && timeline.arguments_.back().depth > depth) timeline.arguments_.pop_back();
  }
  void give(LineKind kind, const OpenCall& call, uint64_t time, size_t depth, CallEnd how) {
    if (!go_on) return;
    TimelineLine line = timeline.line(kind, time);
    line.depth = static_cast<uint32_t>(depth);
    line.begin = call.begin;
    line.duration = time - call.begin;
    line.end = how;
    line.inherited = call.inherited;
    if (is_span(call.pc)) {
      line.site = call.tag;
      if (kind == LineKind::kSpanBegin) {
        line.record = &begin->record;
        line.stack = begin->record.as<penna_point>().stack;
      }
    } else {
      line.pc = call.pc;
      // Arguments are kept with the depth inside their call, one more than the call's own.
      if (!timeline.arguments_.empty() && timeline.arguments_.back().depth == depth + 1) {
        const Kept& arguments = timeline.arguments_.back();
        line.stack = arguments.stack;
        if (!arguments.only_stack) line.arguments = &arguments.record;
      }
      if (kind != LineKind::kEnter && !timeline.result_.empty() && timeline.result_.back().depth == depth + 1)
        line.result = &timeline.result_.back().record;
    }
    go_on = on_line(static_cast<const TimelineLine&>(line));
  }
};

// Reports the kEnter that was held back.
template <typename OnLine>
bool Timeline::flush(OnLine& on_line) {
  if (!pending_) return true;
  pending_ = false;
  Emit<OnLine> emit{*this, on_line};
  const OpenCall& call = matcher_.stack().back();
  emit.give(LineKind::kEnter, call, call.begin, matcher_.depth() - 1, CallEnd::kExit);
  return emit.go_on;
}

template <typename OnLine>
bool Timeline::add(const Event& event, OnLine&& on_line) {
  last_time_ = event.time;
  if (event.after_loss) held_.drop_holds_of(thread_);
  if (event.record.is_call()) return add_call(event, on_line);
  if (event.record.kind == PENNA_KIND_JUMP) return add_jump(event, on_line);
  if (event.record.kind == PENNA_KIND_VALUES) return add_values(event, on_line);
  // Points are lines, except that those that begin and end spans nest like calls.
  if (event.record.kind == PENNA_KIND_POINT) {
    const Site* site = recording_.site(process_, event.record.as<penna_point>().site);
    if (site != nullptr && (site->kind == PENNA_SITE_SPAN || site->kind == PENNA_SITE_SPAN_END))
      return add_span(event, *site, on_line);
  }
  TimelineLine other;
  if (!describe(event, other)) return true;
  if (waits_for_arguments() && is_of_thread(other.kind)) {
    --other.depth;  // before the entry
    return on_line(static_cast<const TimelineLine&>(other));
  }
  return flush(on_line) && on_line(static_cast<const TimelineLine&>(other));
}

template <typename OnLine>
bool Timeline::add_span(const Event& event, const Site& site, OnLine& on_line) {
  Emit<OnLine> emit{*this, on_line, true, &event};
  if (!flush(on_line)) return false;
  const uint64_t key = span_key(site);
  if (site.kind == PENNA_SITE_SPAN) {
    matcher_.enter(key, key, event.time, emit);
    return emit.go_on;
  }
  if (matcher_.exit(key, key, event.time, emit)) return emit.go_on;
  TimelineLine stray = stray_exit(event);
  stray.site = site.id;
  return on_line(static_cast<const TimelineLine&>(stray));
}

// The values of a call. The agent writes arguments right after the entry and a result right before the exit; what fits
// neither gets its own line, so that nothing is lost.
template <typename OnLine>
bool Timeline::add_values(const Event& event, OnLine& on_line) {
  const auto values = event.record.as<penna_values>();
  const Site* site = recording_.site(process_, values.site);
  const bool is_result = site != nullptr && site->kind == PENNA_SITE_RESULT;
  if (site == nullptr || matcher_.stack().empty() || matcher_.stack().back().pc != (site->address & ~kSpanPc) ||
      (!is_result && !pending_)) {
    TimelineLine other = line(LineKind::kPoint, event.time);
    other.site = values.site;
    other.record = &event.record;
    return flush(on_line) && on_line(static_cast<const TimelineLine&>(other));
  }
  if (is_result) {
    result_.clear();
    result_.emplace_back(matcher_.depth(), event.record);
    return true;
  }
  arguments_.push_back(keep_arguments(event.record, *site));
  return fold_leaves_ || flush(on_line);
}

template <typename OnLine>
bool Timeline::add_call(const Event& event, OnLine& on_line) {
  Emit<OnLine> emit{*this, on_line};
  // The top bit is reserved to distinguish spans from code; a file could contain anything.
  const uint64_t pc = event.record.pc & ~kSpanPc;
  if (event.record.kind == PENNA_KIND_CALL_ENTRY) {
    if (!flush(on_line)) return false;
    matcher_.enter(pc, pc, event.time, emit, event.inherited);
    return emit.go_on;
  }
  // An exit of another function than the one just entered: the entry was no leaf.
  if (pending_ && (!fold_leaves_ || matcher_.stack().back().pc != pc) && !flush(on_line)) return false;
  if (matcher_.exit(pc, pc, event.time, emit)) return emit.go_on;
  TimelineLine stray = stray_exit(event);
  stray.pc = pc;
  return on_line(static_cast<const TimelineLine&>(stray));
}

template <typename Visit>
void Timeline::for_each_open(size_t depth, Visit&& visit) const {
  for (size_t i = 0; i < matcher_.depth() && i < depth; ++i) {
    const OpenCall& call = matcher_.stack()[i];
    if (is_span(call.pc)) continue;
    TimelineLine entry = line(LineKind::kEnter, call.begin);
    entry.depth = static_cast<uint32_t>(i);
    entry.pc = call.pc;
    entry.inherited = call.inherited;
    visit(static_cast<const TimelineLine&>(entry));
  }
}

template <typename OnLine>
bool Timeline::add_jump(const Event& event, OnLine& on_line) {
  Emit<OnLine> emit{*this, on_line};
  if (!flush(on_line)) return false;
  arguments_.clear();  // their depths are those of another stack
  matcher_.jump(event.record.as<penna_jump>(), event.time, emit);
  return emit.go_on;
}

template <typename OnLine>
bool Timeline::finish(bool keep_open, OnLine&& on_line) {
  if (!flush(on_line)) return false;
  if (keep_open && wait_.is_open() && !on_line(open_wait())) return false;
  // `go_on` false: the matcher is finished for its counts, without lines.
  Emit<OnLine> emit{*this, on_line, keep_open};
  matcher_.finish(last_time_, emit);
  return emit.go_on || !keep_open;
}

template <typename OnLine>
WalkReport for_each_timeline_line(const Recording& recording, uint32_t thread, const TimelineOptions& options,
                                  OnLine&& on_line) {
  EventFilter filter = options.filter;
  filter.thread = thread;
  Timeline timeline(recording, recording.threads()[thread].process, thread, options.fold_leaves);
  WalkReport report =
      for_each_thread_event(recording, filter, [&](const Event& event) { return timeline.add(event, on_line); });
  if (!report.stopped) report.stopped = !timeline.finish(options.keep_open, on_line);
  return report;
}

template <typename OnLine>
WalkReport for_each_merged_line(const Recording& recording, const TimelineOptions& options, OnLine&& on_line) {
  std::vector<std::unique_ptr<Timeline>> timelines(recording.threads().size());
  WalkReport report = for_each_event(recording, options.filter, [&](const Event& event) {
    auto& timeline = timelines[event.thread];
    if (!timeline) timeline = std::make_unique<Timeline>(recording, event.process, event.thread, false);
    return timeline->add(event, on_line);
  });
  for (auto& timeline : timelines)
    if (timeline && !report.stopped) report.stopped = !timeline->finish(options.keep_open, on_line);
  return report;
}

}  // namespace penna
