// SPDX-License-Identifier: MIT
// --pid: which of the recorded processes are meant.
//
// Why not a number alone: a process that runs an exec stays the same for the kernel and is another program; both are
// recorded, each as a process of its own. PID means all that had it, PID:N the Nth of them, in the order in which they
// began.
// Invariant: that several are meant is told (several_text).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/arguments.h"
#include "recording/reader.h"

namespace penna {

struct ProcessChoice {
  uint32_t pid = 0;
  uint32_t image = 0;  // 0: all
  std::string text;    // as it was typed
};
Result<ProcessChoice> parse_process(const std::string& text);

// `what` stands in the help, in front of how it is written.
void add_process_option(OptionParser& parser, const char* names, std::optional<ProcessChoice>& choice,
                        const std::string& what);

// By index of the process: is it meant? The error says that none is.
Result<std::vector<bool>> meant_processes(const Recording& recording, const ProcessChoice& choice);

// How to choose among several that are meant, as a sentence; empty: one is, or all are, without --pid.
std::string several_text(const Recording& recording, const std::optional<ProcessChoice>& choice);

}  // namespace penna
