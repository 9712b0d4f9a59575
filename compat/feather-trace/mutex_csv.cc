// SPDX-License-Identifier: MIT
// See mutex_csv.h.
#include "mutex_csv.h"

#include "ft_file.h"

namespace penna {

// The formats are those of the original, byte for byte: scripts read them.
SectionCounts print_sections(const CriticalSections& sections, const TextSink& out, const TextSink& missing) {
  SectionCounts counts;
  TextBuffer lines(out), strays(missing);
  sections.for_each([&](const SectionEvent& event) {
    if (!event.other) {
      ++counts.incomplete;
      strays.format(" {} missing: {:#x} {} by {:#x} at {:10}\n", event.is_taken ? "2nd" : "1st", event.lock,
                    event.is_taken ? "locked" : "released", event.thread, event.time);
    } else if (event.is_taken) {
      ++counts.complete;
      const uint64_t stop = *event.other;
      counts.backwards += stop < event.time;
      lines.format("{}, {}, {}, {}, {}\n", event.time, stop, stop < event.time ? 0 : stop - event.time, event.nesting,
                   static_cast<int64_t>(event.thread));
    }
  });
  lines.flush();
  strays.flush();
  return counts;
}

void print_events(const CriticalSections& sections, const TextSink& out) {
  TextBuffer lines(out);
  sections.for_each([&](const SectionEvent& event) {
    lines.format("{:6}, {:#x}, {:#x}, {}, {:10}\n", uint64_t{event.is_taken ? kFtTaken : kFtReleased}, event.lock,
                 event.thread, event.nesting, event.time);
  });
  lines.flush();
}

}  // namespace penna
