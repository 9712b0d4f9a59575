// SPDX-License-Identifier: MIT
// Requests to a running recorder: those of penna ctl, and of the page that shows its recording.
//
// Invariant: an answer is untrusted, and read only as a number or a sentence: any process may be listening.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "reach/control/find_recorder.h"

namespace penna {

struct SwitchedPoints {
  uint32_t processes = 0, matched = 0, changed = 0, refused = 0;
};

// Switches the points of one pattern, in one process or in all.
Result<SwitchedPoints> switch_points(const Recorder& recorder, bool on, const std::string& pattern);
// What a recording takes, and of these what is switched off now, as bits of event classes.
struct RecordedKinds {
  uint32_t recorded = 0, off = 0;
};
Result<RecordedKinds> recorded_kinds(const Recorder& recorder);
// Switches kinds of event for the whole recording: "calls,locks".
Result<> switch_kinds(const Recorder& recorder, bool on, const std::string& kinds);
// A filter that is set while recording (collect/control/set_filters.h).
struct SetFilter {
  std::string kind, text;  // "where", "function" or "no-function"
};
Result<std::vector<SetFilter>> set_filters(const Recorder& recorder);
// A sentence: what holds from now on.
Result<std::string> change_filter(const Recorder& recorder, bool on, const SetFilter& filter);
// Stores what a recorder that keeps only the newest events has (penna record --keep).
Result<> take_snapshot(const Recorder& recorder);
// Returns when the recording is complete and the recorder has left its processes.
Result<> stop_recording(const Recorder& recorder);

}  // namespace penna
