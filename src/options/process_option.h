// SPDX-License-Identifier: MIT
// --pid: which of the recorded processes are meant.
//
// Why not just a number: a process that execs keeps its pid but runs another program; both are recorded, each as a
// separate process. PID means all that had it, PID:N the Nth of them, in order of their start.
// Invariant: if several are meant, a sentence says so (several_text).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "options/arguments.h"
#include "recording/reader.h"

namespace penna {

struct ProcessChoice {
  uint32_t pid = 0;
  uint32_t image = 0;  // 0: all
  std::string text;    // as typed
};
Result<ProcessChoice> parse_process(const std::string& text);

// `what` precedes the syntax in the help.
void add_process_option(OptionParser& parser, const char* names, std::optional<ProcessChoice>& choice,
                        const std::string& what);

// By process index: whether it is meant. Error: none is.
Result<std::vector<bool>> meant_processes(const Recording& recording, const ProcessChoice& choice);

// How to choose among several that are meant, as a sentence; empty: only one is, or all are, without --pid.
std::string several_text(const Recording& recording, const std::optional<ProcessChoice>& choice);

}  // namespace penna
