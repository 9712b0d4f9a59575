// SPDX-License-Identifier: MIT
// --tid and --thread: of which threads the events are shown.
//
// Why not by leaving out events alone: who freed a block, or held a lock, may be a thread that was not asked for
// (Selection::threads).
// Invariant: an option that means no thread is told; where all mean none, nothing is shown.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/arguments.h"
#include "recording/reader.h"
#include "recording/thread_choice.h"

namespace penna {

void add_thread_options(OptionParser& parser, ThreadChoice& options);
// Selection::threads: those that are meant, of those that the recording was made with; empty where all are. The error
// says that none is met.
Result<std::vector<bool>> choose_threads(const Recording& recording, const ThreadChoice& options);
// While recording: which options no thread of the recording has met, as sentences.
std::vector<std::string> unmet_threads(const std::string& path, const ThreadChoice& options);
// As one types them: "--tid 12 --thread 'worker*'".
std::string thread_text(const ThreadChoice& options);
// What is shown, as a sentence; empty: all threads are.
std::string selected_text(const Recording& recording);

}  // namespace penna
