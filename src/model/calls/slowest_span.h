// SPDX-License-Identifier: MIT
// The slowest instance of a span, as a range of time of a thread.
// Invariant: ends as Points has them: a span ends with the end of its names, and with the span around it.
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

// `name`: "provider:name", or the name alone. Nothing: no such span has a beginning and an end.
std::optional<SpanTime> slowest_span(const Recording& recording, const std::string& name);

}  // namespace penna
