// SPDX-License-Identifier: MIT
// Call records that no thread wrote: entries and exits that a reader synthesizes, as chunks for a RecordCursor.
//
// Why: calls inherited by fork and calls cut by a time range begin or end without a record.
// Invariant: all records of one append are at the same time, in the order given.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "penna/channel.h"

namespace penna {

// `kind`: entries or exits of `pcs`, at `time` (ticks). `header` names the chunks' thread. Appends to `out`.
void append_calls(uint32_t kind, uint64_t time, std::span<const uint64_t> pcs, penna_chunk header,
                  std::deque<std::vector<uint8_t>>& out);

}  // namespace penna
