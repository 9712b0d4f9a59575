// SPDX-License-Identifier: MIT
// The last block written into a recording: the names of the places that occur in it.
//
// Why then: the files are still those that ran, and no process is waiting any more. Invariant: it takes no longer than
// kMostForNames; a name that is not stored is looked up by readers, as long as the file stays.
#pragma once

#include <chrono>

#include "recording/writer.h"
#include "symbols/elf/other_roots.h"

namespace penna {

inline constexpr std::chrono::seconds kMostForNames{2};

// `writer` must remember code. `session`: a function with several names is stored under the one that its options
// requested. `roots`: those of processes in containers.
void write_last_names(RecordingWriter& writer, const Session& session, const OtherRoots& roots);

}  // namespace penna
