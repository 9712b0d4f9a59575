// SPDX-License-Identifier: MIT
// The words for record kinds in exports and messages: those of penna/kinds.inc.
#pragma once

#include <cstdint>

#include "penna/event.h"

namespace penna {

// "" for a kind unknown to this version.
constexpr const char* kind_word(uint32_t kind) {
  switch (kind) {
#define PENNA_KIND(number, name, payload, event_class, word) \
  case number:                                               \
    return word;
#include "penna/kinds.inc"
#undef PENNA_KIND
    default: return "";
  }
}

}  // namespace penna
