// SPDX-License-Identifier: MIT
// penna export firefox: a processed profile of the Firefox Profiler, which profiler.firefox.com loads.
//
// Calls are samples: one for each stretch of time in which a thread's calls did not change, with its length as weight.
// Waits, points and spans are markers. Allocations and frees of a process are the native allocations of its first
// thread, with their stacks, so that retained memory can be told, whoever freed it.
// https://github.com/firefox-devtools/profiler/blob/main/docs-developer/CHANGELOG-formats.md, version 48: viewers
// upgrade older profiles when they load them.
// Invariant: valid JSON whatever the recording holds; every index is within its table. Memory: the events of a thread,
// and the allocations of all processes.
#pragma once

#include <functional>

#include "export/folded_export.h"
#include "export/text_sink.h"
#include "model/names/names.h"
#include "model/timeline/timeline.h"

namespace penna {

// `step` is called for each line. False when the sink refused.
bool export_firefox(const Recording& recording, Names& names, const TextSink& sink, const std::function<void()>& step,
                    WalkReport* walk);
// One thread with a sample for each stack, and the number that it has in folded_export.h. `step` as there.
FoldedReport export_aggregated_firefox(const Recording& recording, Names& names, const FoldedOptions& options,
                                       const TextSink& sink, const std::function<void(uint64_t)>& step);

}  // namespace penna
