// SPDX-License-Identifier: MIT
// The chunks that are left of one that a CallSieve has decided: in front of it the entries that a range cuts, behind it
// the exits.
//
// Why here: who reads a recording and who looks on while it is made are given the same.
// Invariant: what is given are chunks for a RecordCursor, in the order of their records.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "filter/call_sieve.h"

namespace penna {

// Appends them to `out`. `chunk`: the one that `sifted` is about.
void append_pieces(const SiftedChunk& sifted, std::vector<uint8_t>&& chunk, const CallRules& rules,
                   std::deque<std::vector<uint8_t>>& out);

}  // namespace penna
