// SPDX-License-Identifier: MIT
// See timeline.h. Here: the lines of records that are no calls.
#include "model/timeline/timeline.h"

#include <algorithm>

#include "model/events/block_records.h"
#include "model/events/summary.h"

namespace penna {

// Spans match by name, not by site: beginning and end are two sites, and copies of either have their own sites.
uint64_t Timeline::span_key(const Site& site) {
  const std::string name = site.provider + '\0' + site.name;
  return kSpanPc | span_numbers_.try_emplace(name, span_numbers_.size()).first->second;
}

Timeline::Kept::Kept(size_t at, const Record& from)
    : depth(at), payload(from.payload, from.payload + from.payload_bytes), record(from) {
  record.payload = payload.data();
}

// A record's payload is only valid during the visit, so it is copied. A stack among the values is taken out: it belongs
// to the line.
Timeline::Kept Timeline::keep_arguments(const Record& values, const Site& site) {
  Kept kept(matcher_.depth(), values);
  const auto stack = std::find_if(site.arguments.begin(), site.arguments.end(),
                                  [](const SiteArgument& argument) { return argument.is_stack(); });
  if (stack == site.arguments.end()) return kept;
  decode_arguments(&site, kept.record, decoded_);
  kept.stack = static_cast<uint32_t>(decoded_.values[static_cast<size_t>(stack - site.arguments.begin())].bits);
  kept.only_stack = site.arguments.size() == 1;
  return kept;
}

// Only functions recorded with arguments hold their entry back for them.
bool Timeline::has_arguments(uint64_t pc) const {
  const std::vector<uint64_t>& functions = recording_.processes()[process_].with_arguments;
  return std::binary_search(functions.begin(), functions.end(), pc);
}

TimelineLine Timeline::line(LineKind kind, uint64_t time) const {
  TimelineLine line;
  line.kind = kind;
  line.process = process_;
  line.thread = thread_;
  line.depth = static_cast<uint32_t>(matcher_.depth());
  line.time = line.begin = time;
  return line;
}

// An exit without an entry. At depth 0 of a forked thread the parent made the entry; whether the thread is forked is
// looked up only if it matters.
TimelineLine Timeline::stray_exit(const Event& event) {
  TimelineLine stray = line(LineKind::kStrayExit, event.time);
  stray.record = &event.record;
  if (matcher_.depth() != 0) return stray;
  if (!forked_) forked_ = continues_after_fork(recording_, thread_);
  stray.inherited = *forked_;
  return stray;
}

bool Timeline::describe(const Event& event, TimelineLine& out) {
  const Record& record = event.record;
  out = line(LineKind::kEnter, event.time);
  out.record = &record;
  switch (record.kind) {
    case PENNA_KIND_POINT:
      out.kind = LineKind::kPoint;
      out.site = record.as<penna_point>().site;
      out.stack = record.as<penna_point>().stack;
      return true;
    case PENNA_KIND_THREAD: out.kind = LineKind::kThreadName; return true;
    case PENNA_KIND_LOST: out.kind = LineKind::kLost; return true;
    case PENNA_KIND_BLOCKED:
      out.kind = LineKind::kBlocked;
      out.duration = record.as<penna_blocked>().ticks;
      out.begin = event.time - (out.duration < event.time ? out.duration : event.time);
      return true;
    default: return describe_block(record, out) || describe_lock(event, out);
  }
}

bool Timeline::describe_block(const Record& record, TimelineLine& out) {
  const BlockRecord block = read_block(record);
  const auto of_space = [&block](LineKind heap, LineKind maps, LineKind pool) {
    return block.space == BlockSpace::kHeap ? heap : block.space == BlockSpace::kMaps ? maps : pool;
  };
  switch (block.action) {
    case BlockAction::kNone: return false;
    case BlockAction::kAllocated:
      out.kind = of_space(LineKind::kAllocation, LineKind::kMap, LineKind::kPoolAllocation);
      break;
    case BlockAction::kFreed: out.kind = of_space(LineKind::kFree, LineKind::kUnmap, LineKind::kPoolFree); break;
    case BlockAction::kKept: out.kind = LineKind::kReallocFailed; break;
  }
  out.address = block.address;
  out.family = block.family;
  out.size = block.size;
  out.stack = block.stack;
  if (block.space == BlockSpace::kPool) out.site = block.pool;
  return true;
}

bool Timeline::describe_lock(const Event& event, TimelineLine& out) {
  LockStep step = held_.begin(event);
  if (step.read.action == LockAction::kNone) return false;
  const LockRecord read = step.read;  // as written: apply() shortens waits that a signal handler interrupted
  // Before apply() ends it: an unlock's line says how long it was held.
  const LockHold hold = held_.hold_of(thread_, step.object);
  held_.apply(event, step);
  if (read.action == LockAction::kRequested) wait_ = held_.wait_of(thread_);
  // A wait too short for record --min-wait ends like an acquisition that found the lock free.
  if (read.action == LockAction::kWaited || read.action == LockAction::kConditionWaited ||
      (read.action == LockAction::kTaken && wait_.object == step.object))
    wait_ = {};
  out.address = out.lock = read.address;
  out.sync = read.sync;
  out.stack = read.stack;
  const auto ended = [&](LineKind kind) {
    out.kind = kind;
    out.owner = read.holder;
    out.wait_end = read.end;
    out.begin = std::min(read.begin, event.time);
    out.duration = event.time - out.begin;
  };
  switch (read.action) {
    case LockAction::kNone: break;
    case LockAction::kTaken: out.kind = LineKind::kLock; break;
    case LockAction::kBusy: out.kind = LineKind::kLockBusy; break;
    case LockAction::kRequested:
      out.kind = LineKind::kLockRequest;
      out.owner = read.holder;
      break;
    case LockAction::kWaited: ended(LineKind::kLockWait); break;
    case LockAction::kReleased:
      out.kind = LineKind::kUnlock;
      if (hold.thread != thread_) break;
      out.begin = hold.since;
      // Its own time: calls within the release (--all-functions) are recorded before it, and raise the line's.
      out.duration = std::max(event.record.time, hold.since) - hold.since;
      break;
    case LockAction::kConditionWaited:
      ended(LineKind::kConditionWait);
      out.address = read.condition;
      out.sync = PENNA_SYNC_CONDITION;
      break;
    case LockAction::kWoke:
      out.kind = LineKind::kWake;
      out.size = read.most;
      break;
    case LockAction::kMade: out.kind = LineKind::kLockMade; break;
    case LockAction::kGone: out.kind = LineKind::kLockGone; break;
  }
  return true;
}

// At the depth where it began, at the end of its process or of the range that is read.
TimelineLine Timeline::open_wait() const {
  TimelineLine wait = line(LineKind::kOpenWait, wait_.begin);
  wait.address = wait.lock = held_.objects()[wait_.object].address;
  wait.sync = wait_.sync;
  wait.owner = wait_.owner;
  wait.stack = wait_.stack;
  const std::optional<ProcessEnd>& end = recording_.processes()[process_].end;
  wait.time = std::max(last_time_, end ? end->end_ticks : recording_.time().last_ticks());
  if (const CallRules* rules = call_rules(recording_)) wait.time = std::min(wait.time, rules->end);
  wait.duration = wait.time > wait.begin ? wait.time - wait.begin : 0;
  return wait;
}

}  // namespace penna
