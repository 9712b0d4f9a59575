// SPDX-License-Identifier: MIT
// The arguments of a line as fields of a JSON object.
// Invariant: a number stays a number, so that a reader can sort and sum; an absent value is null.
#pragma once

#include "export/text/event_words.h"
#include "export/text/json_writer.h"

namespace penna {

// Writes into the open object.
void write_arguments(const TimelineLine& line, EventWords& words, JsonWriter& json);

}  // namespace penna
