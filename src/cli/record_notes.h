// SPDX-License-Identifier: MIT
// What penna record says at its end: at most six lines, each beginning with "penna: ", to stderr.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collect/collector.h"
#include "recording/types.h"

namespace penna {

struct RecordingTimes {
  std::string path;
  ClockTriplet begin, end;
  std::vector<std::string> conditions;  // of --where
  std::string filter;                   // as one types it; empty: none
  std::vector<std::string> unmet;       // options of it that no function met
  std::string refused;                  // about functions that could not be entered; empty: all could
  std::string overhead;                 // what --max-overhead did; empty: not asked for
  // With -T FUNC@snapshot, those of them that no function met.
  std::optional<std::vector<std::string>> snapshots = {};
  bool waits = true;  // --on-full=block
};

// File, time and events; what was lost; what it cost; what was not recorded; the next command.
void print_closing_lines(const RecordingTimes& times, const Collector& collector, const std::string& unrecorded);

// Why the program that `command` names did not meet the recorder, as a sentence.
// May the agent be preloaded into the program of `command`? False where the dynamic linker would complain, or not start it.
bool takes_agent(const std::string& command);

std::string why_unrecorded(const std::string& command);

}  // namespace penna
