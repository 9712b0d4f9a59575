// SPDX-License-Identifier: MIT
// penna export folded: the calls of all threads as "outer;inner;innermost NANOSECONDS", one line for each way of being called
// that has time of its own. For flamegraph.pl, inferno, speedscope and every other tool that draws flame graphs.
// Invariant: the sum of all numbers is the time that threads spent in recorded functions, but for rounding.
#pragma once

#include <functional>

#include "export/text_sink.h"
#include "model/events.h"
#include "model/names.h"

namespace penna {

// `step` is called for each event. False when the sink refused.
bool export_folded(const Recording& recording, Names& names, const TextSink& sink, const std::function<void()>& step,
                   WalkReport* walk);

}  // namespace penna
