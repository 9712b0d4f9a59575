// SPDX-License-Identifier: MIT
// The last that is written into a recording: what the places that occur in it are called.
//
// Why then: the files are still those that ran, and nobody waits any more. Invariant: it takes no longer than kMost; a
// name that is not kept is looked up by readers, as long as the file stays.
#pragma once

#include <chrono>

#include "recording/writer.h"

namespace penna {

inline constexpr std::chrono::seconds kMostForNames{2};

// `writer` must remember code. `session`: a function with several names has the one that its options asked for.
void write_last_names(RecordingWriter& writer, const Session& session);

}  // namespace penna
