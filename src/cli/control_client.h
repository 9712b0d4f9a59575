// SPDX-License-Identifier: MIT
// Requests to a recorder that runs: those of penna ctl, and of the page that shows a recording meanwhile.
//
// Invariant: an answer is believed no further than that it is a number or a sentence: who listens may be anybody.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "reach/find_recorder.h"

namespace penna {

struct SwitchedPoints {
  uint32_t processes = 0, matched = 0, changed = 0, refused = 0;
};

// Switches the points of one pattern, in one process or in all.
Result<SwitchedPoints> switch_points(const Recorder& recorder, bool on, const std::string& pattern);
// Stores what a recorder of the newest events has (penna record --keep).
Result<> take_snapshot(const Recorder& recorder);
// Returns when the recording is complete and its processes are left.
Result<> stop_recording(const Recorder& recorder);

}  // namespace penna
