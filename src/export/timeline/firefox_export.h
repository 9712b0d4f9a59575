// SPDX-License-Identifier: MIT
// penna export firefox: a processed profile of the Firefox Profiler, which profiler.firefox.com loads.
//
// Calls are samples: one for each stretch of time in which a thread's calls did not change, weighted by its length.
// Waits, points and spans are markers. A process's allocations and frees are the native allocations of its first
// thread, with their stacks, so that retained memory can be determined regardless of the freeing thread.
// https://github.com/firefox-devtools/profiler/blob/main/docs-developer/CHANGELOG-formats.md, version 48: viewers
// upgrade older profiles when loading them.
// Invariant: valid JSON regardless of the recording; every index is within its table. Memory: the events of one thread,
// and the allocations of all processes.
#pragma once

#include <functional>

#include "export/calls/folded_export.h"
#include "export/text/text_sink.h"
#include "model/names/names.h"
#include "model/timeline/timeline.h"

namespace penna {

// Calls `step` for each line. False if the sink returned false.
bool export_firefox(const Recording& recording, Names& names, const TextSink& sink, const std::function<void()>& step,
                    WalkReport* walk);
// One thread with a sample for each stack, weighted as in folded_export.h. `step` as there.
FoldedReport export_aggregated_firefox(const Recording& recording, Names& names, const FoldedOptions& options,
                                       const TextSink& sink, const std::function<void(uint64_t)>& step);

}  // namespace penna
