// SPDX-License-Identifier: MIT
// Deadlocks in reports: sentences, and a table with one row per thread in a deadlock.
// Invariant: a recording without deadlock yields neither.
#pragma once

#include <string>
#include <vector>

#include "model/locks/deadlocks.h"
#include "report/locks/wait_texts.h"
#include "report/table.h"

namespace penna {

// "Deadlock: one (tid 12) waits for mutex `b`, which two (tid 13) holds, which waits for mutex `a`, ..."; one for each,
// and one for all threads that wait for a thread that will never release.
std::vector<std::string> deadlock_sentences(const Deadlocks& found, const WaitTexts& texts);
// `ends`: open_ends(): until then threads have waited. `texts` and `found` must outlive the table: its cells are filled
// once it is known which rows are shown.
Table deadlock_table(const Deadlocks& found, const WaitTexts& texts, std::span<const uint64_t> ends);

}  // namespace penna
