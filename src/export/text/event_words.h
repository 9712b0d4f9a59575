// SPDX-License-Identifier: MIT
// EventWords: what exports write about a timeline line: kind, name, address, times, stack, arguments.
//
// Why one place: a wait must have the same name in every format. Invariant: no text here is escaped; the writer does
// that.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "model/events/points.h"
#include "model/names/names.h"
#include "model/timeline/timeline.h"

namespace penna {

// "enter", "exit", "alloc", ...: as in csv_export.h.
const char* line_kind_name(const TimelineLine& line);
// True for lines with the length of a wait or of a hold.
bool has_wait_or_hold(const TimelineLine& line);
// How a wait ended, a penna_wait_end: "got", "timeout", "owner_died", "error".
std::string wait_end_name(uint32_t end);
// What a wait was for, unless a lock or a condition variable: "semaphore", "join"; else empty.
std::string wait_sync_name(const TimelineLine& line);
// For formats in which a line is a record: a newline in a name becomes a space, and the rest printable().
std::string one_line(std::string text);
// The function that a penna_alloc_family stands for.
std::string allocation_function(uint32_t family, bool is_free);
// For a kLost line: events of all classes.
uint64_t lost_events(const TimelineLine& line);

// A call or span ended by a longjmp or by the end of an outer one: it has no event of its own.
inline bool is_end_without_event(const TimelineLine& line) {
  return (line.kind == LineKind::kLeave || line.kind == LineKind::kSpanEnd) && line.end != CallEnd::kExit;
}

// The lines that are events, for all threads in time order: what was entered and not left has no end.
// `with_ends`: including those of is_end_without_event(); `all_threads`: like EventFilter's.
template <typename OnLine>
WalkReport for_each_event_line(const Recording& recording, const std::function<void()>& step, OnLine&& on_line,
                               bool with_ends = false, bool all_threads = false) {
  TimelineOptions options;
  options.fold_leaves = false;
  options.keep_open = false;  // a call that was not left has no exit event
  options.filter.all_threads = all_threads;
  return for_each_merged_line(recording, options, [&](const TimelineLine& line) {
    step();
    return (!with_ends && is_end_without_event(line)) || on_line(line);
  });
}

// The lines of one thread after another, for when order between threads does not matter. Calls and spans that were not
// left end, unlike above. False if on_line returned false.
template <typename OnLine>
bool for_each_line_by_thread(const Recording& recording, const TimelineOptions& options,
                             const std::function<void()>& step, WalkReport* walk, OnLine&& on_line) {
  for (uint32_t thread = 0; thread < recording.threads().size(); ++thread) {
    walk->add(for_each_timeline_line(recording, thread, options, [&](const TimelineLine& line) {
      step();
      if (line.kind == LineKind::kLeaf) step();  // entry and exit
      return on_line(line);
    }));
    if (walk->stopped) return false;
  }
  return true;
}

class EventWords {
 public:
  EventWords(const Recording& recording, Names& names);

  uint64_t begin() const { return begin_; }  // ticks of the first event of the recording
  // Nanoseconds since the first event of the recording; negative before it.
  int64_t time_ns(uint64_t ticks) const { return recording_.time().duration_ns(begin_, ticks); }
  int64_t duration_ns(const TimelineLine& line) const {
    return recording_.time().duration_ns(line.begin, line.begin + line.duration);
  }

  std::string name(const TimelineLine& line);
  uint64_t address(const TimelineLine& line) const;
  // Outermost function first, joined by ';'; a ';' inside a name becomes ':'. Empty without a stack.
  std::string folded_stack(uint32_t process, uint32_t stack);
  std::vector<std::string> folded_frames(uint32_t process, uint32_t stack);  // the same, unjoined
  std::string folded_stack(const TimelineLine& line) { return folded_stack(line.process, line.stack); }

  // visit(name, value, text): for a point or a span its arguments; for a call its arguments and results, if known; for
  // a wait its holder and how it ended, as text.
  template <typename Visit>
  void each_argument(const TimelineLine& line, Visit&& visit) {
    if (line.kind == LineKind::kPoint || line.kind == LineKind::kSpanBegin) {
      const Site* site = names_.point_site(line.process, line.site, line.time);
      decode_arguments(site, *line.record, point_);
      for (size_t i = 0; i < point_.values.size(); ++i) {
        static const SiteArgument unknown;
        const SiteArgument& described = site != nullptr && i < site->arguments.size() ? site->arguments[i] : unknown;
        ArgumentValue value = point_.values[i];
        const std::string text = argument_text(described, value);
        if (!described.format.empty()) value.type = 0;  // the text says more than the number
        visit(described.name.empty() ? "arg" + std::to_string(i + 1) : described.name, value, text);
      }
    } else if (line.arguments != nullptr || line.result != nullptr) {
      for (const Record* record : {line.arguments, line.result}) {
        const Site* site = record != nullptr ? recording_.site(line.process, record->as<penna_values>().site) : nullptr;
        if (site == nullptr) continue;
        decode_arguments(site, *record, point_);
        for (size_t i = 0; i < point_.values.size(); ++i) {
          if (site->arguments[i].is_stack()) continue;
          ArgumentValue value = point_.values[i];
          const std::string text = argument_text(site->arguments[i], value);
          if (!site->arguments[i].format.empty() || value.bad) value.type = 0;  // the text says more than the number
          visit(site->arguments[i].name, value, text);
        }
      }
    } else if (line.kind == LineKind::kLockWait || line.kind == LineKind::kConditionWait ||
               line.kind == LineKind::kOpenWait) {
      if (const std::string sync = wait_sync_name(line); !sync.empty()) visit("sync", text_value(sync), sync);
      if (line.owner != 0) visit("holder_tid", number_value(line.owner), std::to_string(line.owner));
      if (line.kind != LineKind::kOpenWait)
        visit("end", text_value(wait_end_name(line.wait_end)), wait_end_name(line.wait_end));
    }
  }

 private:
  static ArgumentValue number_value(uint64_t number);
  static ArgumentValue text_value(std::string_view text);

  const Recording& recording_;
  Names& names_;
  uint64_t begin_;
  DecodedPoint point_;
};

}  // namespace penna
