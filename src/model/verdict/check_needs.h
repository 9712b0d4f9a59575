// SPDX-License-Identifier: MIT
// What a limit would need to know, and does not: events that were lost or left out, gaps, samples, halves of
// allocators.
//
// Why: a limit that is kept because nothing was looked at is worse than none. Each kind of limit has its own needs: a
// lost free makes leaks of blocks that do not leak, and does not change the number of allocations.
// Invariant: missing information that does not affect a limit is not reported: a limit on locks does not need
// allocations.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/verdict/checks.h"

namespace penna {

// Do ends count, such as frees and lock releases? If one is missing, more is found than there was.
enum class Ends : uint8_t { kDoNotCount, kCount };

// Missing events of a class. `all_processes`: also those of processes that are not recorded.
std::vector<Missing> missing_events(const HealthReport& health, penna_event_class of, Ends ends,
                                    bool all_processes = true);

// In addition for blocks: the allocations that `health` has seen.
std::vector<Missing> missing_blocks(const Recording& recording, const HealthReport& health, Ends ends);

// Allocations for which it is unknown whether they count; nothing: there are none. `what`: "a function of --stack".
std::optional<Missing> missing_stacks(uint64_t allocations, const char* what);

// Only a sample of the heap was recorded, one block in `mean` bytes: is the result far enough from the limit to be more
// than chance? Nothing: it is. `samples`: how many stand for all that was found; nothing: unknown.
std::optional<Missing> missing_samples(const Verdict& verdict, uint64_t mean, std::optional<uint64_t> samples);

}  // namespace penna
