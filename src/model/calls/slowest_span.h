// SPDX-License-Identifier: MIT
// The slowest instance of a span, as a time range of a thread.
// Invariant: spans end as in Points: at the end of the same names, and with the span around them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "recording/reader.h"

namespace penna {

struct SpanTime {
  uint32_t thread = 0;
  uint64_t begin = 0, end = 0;  // ticks
};

// `name`: "provider:name", or just the name. Nothing: no such span has both a beginning and an end.
std::optional<SpanTime> slowest_span(const Recording& recording, const std::string& name);

}  // namespace penna
