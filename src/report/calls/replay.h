// SPDX-License-Identifier: MIT
// ReplayPrinter: the lines of a timeline as text: calls as a tree, and other events at their depth.
//
//         TIME  DURATION     TID  EVENT
//  0.000012345             4711  main() {
//  0.000013000   1.20 us   4711    lock counter_lock waited 1.20 us, held by worker (tid 4712)
//
// Invariant: one line of text per line of the timeline (and with `stacks` the frames below it), in constant memory;
// except that a wait has a single line, when it ends.
#pragma once

#include <functional>
#include <string>

#include "model/events/points.h"
#include "model/names/names.h"
#include "model/timeline/timeline.h"
#include "report/print.h"

namespace penna {

// What precedes the events, instead of TIME, DURATION and TID.
struct ReplayColumns {
  std::string titles;
  size_t width = 0;  // of the titles, and normally of the lines
  std::function<std::string(const TimelineLine&)> text;
};

struct ReplayStyle {
  TextStyle text;
  bool stacks = false;                     // also print the frames of allocations, waits and calls
  const ReplayColumns* columns = nullptr;  // replaces those three columns
  bool by_thread = false;                  // titles say whose lines follow: TID may be dropped if room is short
};

// Reserves at least this many of `room` columns for the text of a line: deeper lines move no further to the right, and
// start with their depth: "[12] ".
size_t shown_levels(size_t depth, size_t columns_of_level, size_t room);
std::string depth_mark(size_t depth);

// Whether the line's `duration` is meaningful: it is for ends of calls, spans and waits.
bool has_duration(const TimelineLine& line);
// When it happened or began, in ticks.
inline uint64_t shown_time(const TimelineLine& line) { return line.kind == LineKind::kLeaf ? line.begin : line.time; }

class ReplayPrinter {
 public:
  // All must outlive it.
  ReplayPrinter(const Recording& recording, Names& names, const ReplayStyle& style, TextSink sink);

  // The column titles; and the heading for the lines of one thread.
  bool titles();
  bool thread_title(uint32_t thread);
  // False if the sink returned false.
  bool line(const TimelineLine& line);
  std::string function_name(const TimelineLine& line);
  std::string event_text(const TimelineLine& line);  // printable
  // The recording's time 0, in ticks, if its events do not say.
  void set_begin(uint64_t ticks) { begin_ = ticks; }
  size_t width() const { return style_.text.width; }

 private:
  size_t append_columns(const TimelineLine& line);  // to line_; returns its width
  size_t columns_width() const;
  std::string lock_text(const TimelineLine& line);
  std::string stray_text(const TimelineLine& line);
  std::string values_of(const TimelineLine& line, const Record& record);
  std::string result_text(const TimelineLine& line);
  std::string call_name(const TimelineLine& line);
  std::string allocation_text(const TimelineLine& line);
  std::string origin_text(const TimelineLine& line);
  std::string pool_name(const TimelineLine& line);
  std::string wait_text(const TimelineLine& line, const std::string& what);
  std::string lock_name(const TimelineLine& line, uint64_t address);
  std::string point_text(const TimelineLine& line, const char* what);
  std::string span_name(const TimelineLine& line);
  void append_tinted(std::string_view text, Tint tint);  // to line_
  bool stack_lines(const TimelineLine& line, size_t indent);

  const Recording& recording_;
  Names& names_;
  ReplayStyle style_;
  TextSink sink_;
  uint64_t begin_ = 0;  // ticks at which the recording's time is 0
  DecodedPoint point_;
  std::string line_;       // under construction
  bool without_tid_;       // for lack of room
  bool reported_ = false;  // the user has been informed
};

// Calls and spans whose beginnings and ends do not match, counted line by line.
class UnbalancedEnds {
 public:
  void count(const TimelineLine& line);
  std::string sentence() const;  // "" if all match

 private:
  uint64_t jumped_ = 0, unwound_ = 0, open_ = 0, stray_ = 0, inherited_ = 0;
};

// "a=1 b=\"x\"": the arguments of a point; strings in quotes, with unprintable characters as \xNN.
std::string arguments_text(const Site* site, const DecodedPoint& point);
// A call's arguments, or its result: "fd=3, path=\"x\", at=0x7f00{x=1, y=2}". `code` names a code address.
std::string values_text(const Site& site, const DecodedPoint& values, const std::function<std::string(uint64_t)>& code);

}  // namespace penna
