// SPDX-License-Identifier: MIT
// penna export speedscope: the calls and spans of each thread as a profile of speedscope.app, in time order.
//
// An evented profile for each thread that has any: a frame opens ("O") and closes ("C") at nanoseconds since the first
// event of the recording. What was not left closes with its outer call or at the thread's last event.
// Aggregated: one sampled profile, a sample for each distinct stack, in the order of an export as folded: as large as
// the program's ways to call, not as long as it ran.
// https://www.speedscope.app/file-format-schema.json
// Invariant: in each profile every open has its close, in the order of brackets, and times never fall.
#pragma once

#include <functional>

#include "export/folded_export.h"

namespace penna {

// `step` is called for each event. False when the sink refused.
bool export_speedscope(const Recording& recording, Names& names, const TextSink& sink,
                       const std::function<void()>& step, WalkReport* walk);
// `step` is called with the number of events that were read since.
FoldedReport export_aggregated_speedscope(const Recording& recording, Names& names, const FoldedOptions& options,
                                          const TextSink& sink, const std::function<void(uint64_t)>& step);

}  // namespace penna
