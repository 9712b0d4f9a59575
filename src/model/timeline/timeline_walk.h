// SPDX-License-Identifier: MIT
// The templates of timeline.h; include that one.
// Invariant: pending_ is true only while the innermost call was entered by the immediately preceding event.
#pragma once

#include "model/timeline/timeline.h"

namespace penna {

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
