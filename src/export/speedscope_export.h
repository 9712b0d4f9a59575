// SPDX-License-Identifier: MIT
// penna export speedscope: the calls and spans of each thread as a profile of speedscope.app, in time order.
//
// An evented profile for each thread that has any: a frame opens ("O") and closes ("C") at nanoseconds since the first
// event of the recording. What was not left closes with its outer call or at the thread's last event.
// https://www.speedscope.app/file-format-schema.json
// Invariant: in each profile every open has its close, in the order of brackets, and times never fall.
#pragma once

#include <functional>

#include "export/text_sink.h"
#include "model/events/events.h"
#include "model/names/names.h"

namespace penna {

// `step` is called for each event. False when the sink refused.
bool export_speedscope(const Recording& recording, Names& names, const TextSink& sink,
                       const std::function<void()>& step, WalkReport* walk);

}  // namespace penna
