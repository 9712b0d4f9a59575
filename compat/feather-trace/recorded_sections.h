// SPDX-License-Identifier: MIT
// The critical sections of a recording: of mutexes, including the reacquisition at the end of a condition wait, of
// rwlocks and of spinlocks.
//
// Invariant: times are those of one clock that begins at the recording's wall-clock time and then never jumps, so no
// section ends before it begins because the clock was set.
#pragma once

#include <cstdint>

#include "critical_sections.h"
#include "model/events/events.h"

namespace penna {

enum class SectionClock : uint8_t { kMicroseconds /* since 1970 */, kCycles };

struct RecordedSections {
  uint64_t filtered = 0;  // waits and acquisitions of what has no holder: semaphores, barriers, joins, once, futexes
  uint64_t left_out = 0;  // events for which there is no room
  WalkReport walk;
};

// Threads are named by their tids: a recording does not have pthread_self().
RecordedSections read_sections(const Recording& recording, SectionClock clock, CriticalSections& sections);

}  // namespace penna
