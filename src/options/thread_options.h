// SPDX-License-Identifier: MIT
// --tid and --thread: which threads' events are shown.
//
// Why not by just leaving out events: the thread that freed a block, or held a lock, may be one that was not requested
// (Selection::threads).
// Invariant: an option that matches no thread is reported; if all match none, nothing is shown.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "filter/thread_choice.h"
#include "options/arguments.h"
#include "recording/reader.h"

namespace penna {

void add_thread_options(OptionParser& parser, ThreadChoice& options);
// Selection::threads: the matching ones, among those that the recording was made with; empty if all match. Error: none
// matches.
Result<std::vector<bool>> choose_threads(const Recording& recording, const ThreadChoice& options);
// While recording: which options no thread of the recording has matched, as sentences.
std::vector<std::string> unmet_threads(const std::string& path, const ThreadChoice& options);
// As typed: "--tid 12 --thread 'worker*'".
std::string thread_text(const ThreadChoice& options);
// The selection, as a sentence; empty: all threads.
std::string selected_text(const Recording& recording);

}  // namespace penna
