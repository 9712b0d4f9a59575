// SPDX-License-Identifier: MIT
// ReplayPrinter: the lines of a timeline as text: calls as a tree, and at their depth what else happened.
//
//         TIME  DURATION     TID  EVENT
//  0.000012345             4711  main() {
//  0.000013000   1.20 us   4711    lock counter_lock waited 1.20 us, held by worker (tid 4712)
//
// Invariant: one line of text for each line of the timeline (and with `stacks` the frames below it), in constant
// memory; but a wait has one, when it ends.
#pragma once

#include <functional>
#include <string>

#include "model/events/points.h"
#include "model/names/names.h"
#include "model/timeline/timeline.h"
#include "report/print.h"

namespace penna {

// What stands in front of the events, in place of TIME, DURATION and TID.
struct ReplayColumns {
  std::string titles;
  size_t width = 0;  // of the titles, and as a rule of the lines
  std::function<std::string(const TimelineLine&)> text;
};

struct ReplayStyle {
  TextStyle text;
  bool stacks = false;                     // the frames of allocations, waits and calls below them
  const ReplayColumns* columns = nullptr;  // others than those three
  bool by_thread = false;                  // titles tell whose lines follow: TID may go where room is short
};

// Of `room` columns at least this many are for the words of a line: deep lines move no further to the right, and say
// how deep they are: "[12] ".
size_t shown_levels(size_t depth, size_t columns_of_level, size_t room);
std::string depth_mark(size_t depth);

// Whether the line's `duration` means anything: ends of calls, spans and waits have one.
bool has_duration(const TimelineLine& line);
// When it happened, or began: ticks.
inline uint64_t shown_time(const TimelineLine& line) { return line.kind == LineKind::kLeaf ? line.begin : line.time; }

class ReplayPrinter {
 public:
  // All must outlive it.
  ReplayPrinter(const Recording& recording, Names& names, const ReplayStyle& style, TextSink sink);

  // The titles of the columns; and the words in front of the lines of one thread.
  bool titles();
  bool thread_title(uint32_t thread);
  // False when the sink did.
  bool line(const TimelineLine& line);
  std::string function_name(const TimelineLine& line);
  std::string event_text(const TimelineLine& line);  // printable
  // The recording's time 0, in ticks, where its events do not say.
  void set_begin(uint64_t ticks) { begin_ = ticks; }
  size_t width() const { return style_.text.width; }

 private:
  size_t append_columns(const TimelineLine& line);  // to line_; gives what they take
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
  std::string line_;   // being put together
  bool without_tid_;   // for want of room
  bool told_ = false;  // that it is
};

// Calls and spans whose ends do not fit together, counted line by line.
class UnbalancedEnds {
 public:
  void count(const TimelineLine& line);
  std::string sentence() const;  // "" when all fit

 private:
  uint64_t jumped_ = 0, unwound_ = 0, open_ = 0, stray_ = 0, inherited_ = 0;
};

// "a=1 b=\"x\"": the arguments of a point; strings in quotes, with what is not printable as \xNN.
std::string arguments_text(const Site* site, const DecodedPoint& point);
// What a call was called with, or gave back: "fd=3, path=\"x\", at=0x7f00{x=1, y=2}". `code` names an address of code.
std::string values_text(const Site& site, const DecodedPoint& values, const std::function<std::string(uint64_t)>& code);

}  // namespace penna
