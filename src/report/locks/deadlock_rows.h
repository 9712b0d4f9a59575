// SPDX-License-Identifier: MIT
// Deadlocks in reports: sentences, and a table with a row for each thread in one.
// Invariant: a recording without deadlock makes neither.
#pragma once

#include <string>
#include <vector>

#include "model/locks/deadlocks.h"
#include "report/locks/wait_texts.h"
#include "report/table.h"

namespace penna {

// "Deadlock: one (tid 12) waits for mutex `b`, which two (tid 13) holds, which waits for mutex `a`, ..."; one for each,
// and one for all threads that wait for somebody who will not come.
std::vector<std::string> deadlock_sentences(const Deadlocks& found, const WaitTexts& texts);
// `end`: ticks, up to when threads have waited. `texts` and `found` outlive the table: its cells
// are filled when it is known which rows are shown.
Table deadlock_table(const Deadlocks& found, const WaitTexts& texts, uint64_t end);

}  // namespace penna
