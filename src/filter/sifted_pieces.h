// SPDX-License-Identifier: MIT
// The chunks that remain of one that a CallSieve has decided: before it the entries that a range cuts, after it the
// exits.
//
// Why here: readers of a recording and live observers get the same.
// Invariant: the result is chunks for a RecordCursor, in the order of their records.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "filter/call_sieve.h"

namespace penna {

// Appends them to `out`. `chunk`: the one that `sifted` belongs to. Returns how many of them, the first, have entries
// of calls that began before the fork of their process.
size_t append_pieces(const SiftedChunk& sifted, std::vector<uint8_t>&& chunk, const CallRules& rules,
                     std::deque<std::vector<uint8_t>>& out);

}  // namespace penna
