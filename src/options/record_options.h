// SPDX-License-Identifier: MIT
// The command line of penna record: options up to the command; everything after its first word belongs to the command.
//
// Invariant: the result of parse_record() was checked: a command or a process, at least one class, values in range.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collect/settings.h"
#include "live/live_view.h"
#include "options/arguments.h"
#include "options/filter_options.h"
#include "options/own_locks.h"
#include "options/push_options.h"
#include "options/snapshot_conditions.h"
#include "options/table_options.h"
#include "options/thread_options.h"
#include "recording/writer.h"
#include "symbols/dwarf/value_spec.h"

namespace penna {

// How a program is attached to the recorder.
enum class Via : uint8_t { kAuto, kInject, kBreakpoint, kUprobe };

// RecordSettings has the settings for any recorder, including the program itself; these are only penna record's.
struct RecordOptions : RecordSettings {
  std::vector<std::string> command;  // empty only with `pids`
  std::vector<int> pids;             // running processes, instead of a command
  Via via = Via::kAuto;
  bool dry_run = false;  // say what would be changed in them, and change nothing
  Format dry_run_format = Format::kTable;
  std::optional<uint64_t> duration_ns;               // then the recording ends
  std::optional<uint64_t> max_bytes;                 // of the file: the recording ends then, too
  std::optional<uint64_t> ring_ns;                   // only the newest events are kept
  bool no_follow = false;                            // processes that recorded ones start are not recorded
  std::string output;                                // empty: CMD.PID.penna in the current directory
  std::string stem;                                  // of that name, instead of "CMD."
  FilterOptions filter;                              // by calls and time
  ThreadChoice threads;                              // none: all
  bool no_names = false;                             // the recording does not keep names of what occurs in it
  Packing packing = Packing::kAuto;                  // of chunks in the recording
  bool force = false;                                // an existing output may be overwritten
  bool libcalls = false;                             // calls from one module into another are recorded, too
  std::vector<Typed<ValueSpec>> arguments, results;  // of calls
  std::vector<OwnLock> lock_functions;               // of a program's own locks
  bool auto_arguments = false;                       // those of all functions whose types are known
  std::optional<uint32_t> keep_mib;                  // of newest events in memory, until a snapshot
  std::vector<SnapshotCondition> on;                 // snapshots are files of their own, and taken for these
  uint32_t keep_snapshots = 10;                      // of these files, at most
  std::optional<uint64_t> on_again_ns;               // from one snapshot to the next, at least
  bool all_functions = false;                        // calls of all functions are recorded, however they were built
  std::optional<uint32_t> max_overhead;              // percent of the program's own time that recording calls may cost
  bool quiet = false;                                // print only errors
  std::optional<LiveForm> live;                      // shown on standard output meanwhile
  bool view = false, no_open = false;                // penna view shows it meanwhile; it starts no browser
  PushTarget push;                                   // where the recording is pushed at its end
  ColorMode color = ColorMode::kAuto;
  bool short_report = false;     // penna CMD: print a short report afterwards
  bool optional_values = false;  // do not report that -A, -R or -T matched no function
};

// max_overhead of --all-functions: at most twice as slow.
inline constexpr uint32_t kOverheadOfAll = 100;

Result<Parsed<RecordOptions>> parse_record(const Arguments& arguments);

}  // namespace penna
