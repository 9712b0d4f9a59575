// SPDX-License-Identifier: MIT
// --tid and --thread: of which threads the events are shown.
//
// Why not by leaving out events alone: who freed a block, or held a lock, may be a thread that was not asked for (Recording::select_threads).
// Invariant: an option that means no thread is told; where all mean none, nothing is shown.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/arguments.h"
#include "recording/reader.h"

namespace penna {

struct ThreadOptions {
  std::vector<std::string> tids, names;  // as they were typed
  bool any() const { return !tids.empty() || !names.empty(); }
};

// `tid`: how the first is called, "--tid" or with a letter.
void add_thread_options(OptionParser& parser, ThreadOptions& options, const char* tid = "--tid");
Result<> check_threads(const ThreadOptions& options);
// Selection::threads: those that are meant; empty where none was asked for. The error says that none is met.
Result<std::vector<bool>> choose_threads(const Recording& recording, const ThreadOptions& options);
// What is shown, as a sentence; empty: all threads are.
std::string selected_text(const Recording& recording);

}  // namespace penna
