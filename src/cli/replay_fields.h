// SPDX-License-Identifier: MIT
// The fields of a replay: what --fields chooses, as columns in front of the events or as those of CSV and JSON.
//
// Why here: text is report's, the words for CSV and JSON are export's, and both show the same fields.
// Invariant: a field has one meaning, whatever the format; what does not apply to a line is an empty cell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/table_output.h"
#include "export/event_words.h"
#include "report/calls/replay.h"

namespace penna {

enum class ReplayField : uint8_t {
  kTime,
  kDuration,
  kDelta,    // since the line before of its thread
  kElapsed,  // since the first line of its thread that is shown
  kPid,
  kTid,
  kThread,
  kProcess,
  kKind,
  kDepth,
  kName,
  kAddress,
  kSize,
  kModule,
  kSource,
  kArguments,
  kStack,
  kEvent,
};

// "time,tid", by the keys of JSON with or without their unit, or as uftrace calls them; "+module": those that stand
// there without
// --fields, and this one; "none": no column, for text. Empty: those without --fields. The error tells the nearest name
// and all of them.
Result<std::vector<ReplayField>> parse_replay_fields(const std::string& text, Format format);
// For the help text.
std::string replay_field_names();

// The cells of lines. next() must be called for each line in the order in which they are shown,
// whichever fields are: delta and elapsed count from lines before.
class ReplayCells {
 public:
  // All must outlive it. `printer` says the text of an event.
  ReplayCells(const Recording& recording, Names& names, ReplayPrinter& printer);

  void next(const TimelineLine& line);
  Cell cell(ReplayField field);         // of the last one that next() was given, while that is valid
  std::string text(ReplayField field);  // the same for people; "" when it does not apply

 private:
  struct Shown {
    uint64_t first, last;
  };
  Cell since(uint64_t Shown::*from) const;
  const NameFrame* place() const;
  Cell module() const;
  Cell source(bool whole_path) const;

  const Recording& recording_;
  Names& names_;
  ReplayPrinter& printer_;
  EventWords words_;
  std::vector<std::optional<Shown>> threads_;  // when the lines of each were, in ticks
  const TimelineLine* line_ = nullptr;
  std::optional<Shown> before_;  // of its thread, without this line
};

// Fields as columns of text. `cells` must outlive what it gives.
ReplayColumns replay_columns(const std::vector<ReplayField>& fields, ReplayCells& cells, const TextStyle& style);
// The table of CSV and JSON, without rows.
Table replay_table(const std::vector<ReplayField>& fields);

}  // namespace penna
