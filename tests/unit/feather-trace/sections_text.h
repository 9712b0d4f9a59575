// SPDX-License-Identifier: MIT
// mutex_ft2csv's output for some sections, as text. Invariant: none.
#pragma once

#include <string>

#include "mutex_csv.h"

namespace penna {

struct SectionsText {
  std::string sections, missing, events;
  SectionCounts counts;
};

inline SectionsText text_of(const CriticalSections& sections) {
  SectionsText text;
  const auto into = [](std::string& target) {
    return [&target](std::string_view piece) {
      target += piece;
      return true;
    };
  };
  text.counts = print_sections(sections, into(text.sections), into(text.missing));
  print_events(sections, into(text.events));
  return text;
}

}  // namespace penna
