// SPDX-License-Identifier: MIT
// The template half of timeline.h: include that one.
#pragma once

#include "model/timeline.h"

namespace penna {

// The lines of one thread.
template <typename OnLine>
WalkReport for_each_timeline_line(const Recording& recording, uint32_t thread, const TimelineOptions& options,
                                  OnLine&& on_line);

// The lines of all threads, merged in time order. Leaves are not folded: a held-back line would come late.
template <typename OnLine>
WalkReport for_each_merged_line(const Recording& recording, const TimelineOptions& options, OnLine&& on_line);

}  // namespace penna
