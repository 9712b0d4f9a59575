// SPDX-License-Identifier: MIT
// penna export perfetto: the protobuf trace of ui.perfetto.dev and trace_processor, half the size of Chrome's JSON.
//
// A track for each process and thread. Calls, spans and waits are slices, points are instants with their arguments as
// debug annotations, losses and exits without an entry are instants of category "penna". A slice that was not left ends
// as in chrome_export.h, and says so in the annotation "end". A process that allocated has a heap profile: for each
// stack what was allocated and how much of it was freed, up to the process's end. Times are nanoseconds of
// CLOCK_MONOTONIC, which a clock snapshot names and ties to CLOCK_REALTIME.
// https://perfetto.dev/docs/reference/trace-packet-proto, https://perfetto.dev/docs/data-sources/native-heap-profiler,
// https://perfetto.dev/docs/reference/synthetic-track-event
// Invariant: every slice that begins on a track ends on it; every name is defined before it is referred to; texts are
// UTF-8.
#pragma once

#include <functional>

#include "export/text/text_sink.h"
#include "model/events/events.h"
#include "model/names/names.h"

namespace penna {

// Calls `step` for each event. False if the sink returned false.
bool export_perfetto(const Recording& recording, Names& names, const TextSink& sink, const std::function<void()>& step,
                     WalkReport* walk);

}  // namespace penna
