// SPDX-License-Identifier: MIT
// The messages of penna record at its end: at most six lines, each beginning with "penna: ", to stderr.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collect/collector.h"
#include "filter/where.h"
#include "recording/types.h"
#include "symbols/elf/elf_facts.h"

namespace penna {

// The input for the closing lines, except the collector's counts.
struct RecordingTimes {
  std::string path;
  ClockTriplet begin, end;
  std::vector<Where> conditions;  // of --where
  std::vector<std::string> unmet_conditions;
  std::string filter;              // as typed; empty: none
  std::vector<std::string> unmet;  // its options that no function matched
  std::string threads;             // --tid and --thread, as typed; empty: none
  std::vector<std::string> unmet_threads;
  bool goes_on = false;  // the program does; the recording has ended
  std::string refused;   // about functions that could not be entered; empty: all could
  std::string overhead;  // what --max-overhead did; empty: not asked for
  // With -T FUNC@snapshot, those of them that no function met; with --ring none.
  std::optional<std::vector<std::string>> snapshots = {};
  bool waits = true;         // --on-full=block
  std::string way_to_calls;  // where there should be some; empty: there are, or none were wanted
  std::string others;        // what --no-follow did; empty: not asked for
  std::string files;         // what --on did: `path` is the newest snapshot, or empty; empty: there is one recording
};

// File, time and events; losses; cost; what was not recorded; the next command.
void print_closing_lines(const RecordingTimes& times, const Collector& collector, const std::string& unrecorded);

// The file that the shell would run for `command`.
std::string file_of_command(const std::string& command);

// Whether the program uses musl, whose dynamic linker the agent does not support.
bool is_of_musl(const ElfFacts& facts);

// How LD_PRELOAD is to begin for the program of `command`: the agent's path, after a library that must come first.
// Empty if the dynamic linker would complain, or not start the program.
std::string preload_for(const std::string& command, const std::string& agent);

// Why the program of `command` did not connect to the recorder, as a sentence.
std::string why_unrecorded(const std::string& command);

}  // namespace penna
