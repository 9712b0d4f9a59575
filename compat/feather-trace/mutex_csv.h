// SPDX-License-Identifier: MIT
// Critical sections in the lines that mutex_ft2csv has always printed. Invariant: `sections` is finished.
#pragma once

#include <cstdint>

#include "critical_sections.h"
#include "export/text/text_sink.h"

namespace penna {

struct SectionCounts {
  uint64_t complete = 0;
  uint64_t incomplete = 0;  // taken and not released, or released and not taken
  uint64_t backwards = 0;   // of the complete ones: end before they begin, according to their times; their length is 0
};

// "start, stop, length, nesting, thread" for each section, in the order in which they began; `missing` gets a line for
// each that has only one end.
SectionCounts print_sections(const CriticalSections& sections, const TextSink& out, const TextSink& missing);

// "  1000, 0xLOCK, 0xTHREAD, nesting, time" for each event: 1000 taken, 1001 released.
void print_events(const CriticalSections& sections, const TextSink& out);

}  // namespace penna
