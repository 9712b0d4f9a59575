// SPDX-License-Identifier: MIT
// penna record: runs a command with the agent and writes its recording.
//
// Why a struct of plain values: the command line (record_options.h) and the work are apart, and each is tested alone.
// Invariant: what reaches cmd_record() was checked by parse_record(): a command, at least one class, values in range.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options/filter_options.h"
#include "cli/options/thread_options.h"
#include "cli/terminal.h"
#include "collect/settings.h"
#include "live/live_view.h"

namespace penna {

struct RecordOptions : RecordSettings {
  std::vector<std::string> command;             // never empty
  std::string output;                           // empty: CMD.PID.penna in the current directory
  std::string stem;                             // of that name, in place of "CMD."
  FilterOptions filter;                         // of calls and time
  ThreadChoice threads;                         // none: all
  bool force = false;                           // an existing output may be overwritten
  bool libcalls = false;                        // calls from one module into another are recorded, too
  std::vector<std::string> arguments, results;  // of calls, as typed: FUNCTION or FUNCTION@VALUE,...
  std::vector<std::string> lock_functions;      // of a program's own locks, as typed (own_locks.h)
  bool auto_arguments = false;                  // those of all functions whose types are known
  std::optional<uint32_t> keep_mib;             // of newest events in memory, with -T FUNC@snapshot
  std::optional<uint32_t> max_overhead;         // percent of the program's own time that recording calls may cost
  bool quiet = false;                           // no text of ours, except errors
  std::optional<LiveForm> live;                 // shown on standard output meanwhile
  ColorMode color = ColorMode::kAuto;
  bool short_report = false;     // penna CMD: print a short report afterwards
  bool optional_values = false;  // it need not be told that -A, -R or -T meant no function
};

// Runs, records, prints the closing lines. Returns the exit status to pass on: the command's own; 125 our failure,
// 126 the command cannot be run, 127 it is not there. A fatal signal of the command is re-raised and does not return.
int cmd_record(const RecordOptions& options);

// The summary of a recording that was just made, on stderr: standard output belongs to the command. Errors are
// sentences.
void print_short_report(const std::string& path);

}  // namespace penna
