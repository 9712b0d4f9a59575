// SPDX-License-Identifier: MIT
// What a limit needs to be known, and is not: events that were lost or left out, gaps, samples, halves of allocators.
//
// Why: a limit that is kept because nobody looked is worse than none. Each kind of limit needs its own: a lost free
// makes leaks of blocks that are none, and changes no number of allocations.
// Invariant: what is missing where nothing is limited is not told: a limit on locks does not ask for allocations.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/verdict/checks.h"

namespace penna {

// Do ends count, as frees and locks that are given back? Where one is missing, more is found than there was.
enum class Ends : uint8_t { kDoNotCount, kCount };

// Of the events of a class. `all_processes`: also of those that are not recorded.
std::vector<Missing> missing_events(const HealthReport& health, penna_event_class of, Ends ends,
                                    bool all_processes = true);

// Of blocks, besides: of the allocations that `health` was told of.
std::vector<Missing> missing_blocks(const Recording& recording, const HealthReport& health, Ends ends);

// Allocations of which nobody knows whether they count; nothing: there are none. `what`: "a function of --stack".
std::optional<Missing> missing_stacks(uint64_t allocations, const char* what);

// Of the heap only a sample of one block in `mean` bytes was recorded: is what was found as far from what is allowed as
// chance may lead it astray? Nothing: it is. `samples`: how many stand for all that was found; nothing: it is not
// known.
std::optional<Missing> missing_samples(const Verdict& verdict, uint64_t mean, std::optional<uint64_t> samples);

}  // namespace penna
