// SPDX-License-Identifier: MIT
// The fields of a replay: the choice of --fields, as columns before the events or as those of CSV and JSON.
//
// Why here: text is report's, CSV and JSON are export's, and both show the same fields.
// Invariant: a field has one meaning, whatever the format; a field that does not apply to a line is an empty cell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/output/table_output.h"
#include "export/text/event_words.h"
#include "report/calls/replay.h"

namespace penna {

enum class ReplayField : uint8_t {
  kTime,
  kDuration,
  kDelta,    // since the previous line of its thread
  kElapsed,  // since the first shown line of its thread
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

// "time,tid", by the keys of JSON with or without their unit, or by uftrace's names; "+module": the default fields, and
// this one; "none": no column, for text. Empty: the default fields. The error gives the nearest name and all of them.
Result<std::vector<ReplayField>> parse_replay_fields(const std::string& text, Format format);
// For the help text.
std::string replay_field_names();

// The cells of lines. next() must be called for each line in display order, whichever fields are shown: delta and
// elapsed depend on earlier lines.
class ReplayCells {
 public:
  // All must outlive it. `printer` formats the text of an event.
  ReplayCells(const Recording& recording, Names& names, ReplayPrinter& printer);

  void next(const TimelineLine& line);
  Cell cell(ReplayField field);         // of the last line passed to next(), while that is valid
  std::string text(ReplayField field);  // the same for display; "" if it does not apply

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
  std::vector<std::optional<Shown>> threads_;  // times of each thread's lines, in ticks
  const TimelineLine* line_ = nullptr;
  std::optional<Shown> before_;  // of its thread, before this line
};

// Fields as columns of text. `cells` must outlive the result.
ReplayColumns replay_columns(const std::vector<ReplayField>& fields, ReplayCells& cells, const TextStyle& style);
// The table of CSV and JSON, without rows.
Table replay_table(const std::vector<ReplayField>& fields);

}  // namespace penna
