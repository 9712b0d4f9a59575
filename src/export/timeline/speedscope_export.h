// SPDX-License-Identifier: MIT
// penna export speedscope: the calls and spans of each thread as a profile of speedscope.app, in time order.
//
// One evented profile per thread that has any: a frame opens ("O") and closes ("C") at nanoseconds since the first
// event of the recording. What was not left closes with its outer call or at the thread's last event.
// Aggregated: one sampled profile, one sample per distinct stack, in the order of export folded: its size depends on
// the program's call paths, not on how long it ran.
// https://www.speedscope.app/file-format-schema.json
// Invariant: in each profile every open has its close, properly nested, and times never decrease.
#pragma once

#include <functional>

#include "export/calls/folded_export.h"

namespace penna {

// Calls `step` for each event. False if the sink returned false.
bool export_speedscope(const Recording& recording, Names& names, const TextSink& sink,
                       const std::function<void()>& step, WalkReport* walk);
// Calls `step` with the number of events read since the last time.
FoldedReport export_aggregated_speedscope(const Recording& recording, Names& names, const FoldedOptions& options,
                                          const TextSink& sink, const std::function<void(uint64_t)>& step);

}  // namespace penna
