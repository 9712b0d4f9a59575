// SPDX-License-Identifier: MIT
// The arguments of a line as fields of a JSON object.
// Invariant: a number is a number, so that a reader can sort and sum; what is not there is null.
#pragma once

#include "export/event_words.h"
#include "export/json_writer.h"

namespace penna {

// Into the object that is open.
void write_arguments(const TimelineLine& line, EventWords& words, JsonWriter& json);

}  // namespace penna
