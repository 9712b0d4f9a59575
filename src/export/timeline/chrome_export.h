// SPDX-License-Identifier: MIT
// penna export chrome: Trace Event Format, the JSON that chrome://tracing and ui.perfetto.dev load.
//
// Calls and waits are complete events ("X"), spans begin and end ("B", "E"), points are instants ("i"), the live heap
// of each process is a counter ("C"), names of processes and threads are metadata ("M"). A call that was not left ends
// where its outer call or its thread ended, and says so in its arguments; an exit without its entry is an instant.
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
// Invariant: valid JSON regardless of the recording; time in microseconds with three decimals, so that no nanosecond is
// lost.
#pragma once

#include <functional>

#include "export/text/text_sink.h"
#include "model/names/names.h"
#include "model/timeline/timeline.h"

namespace penna {

// Calls `step` for each line. False if the sink returned false.
bool export_chrome(const Recording& recording, Names& names, const TextSink& sink, const std::function<void()>& step,
                   WalkReport* walk);

}  // namespace penna
