// SPDX-License-Identifier: MIT
// The reports on who waits for whom: penna report order and chains.
//
// Invariant: as in reports.h: the arguments outlive the report until select_rows() has run on its tables.
#pragma once

#include "model/locks/critical_path.h"
#include "model/locks/deadlocks.h"
#include "model/locks/lock_order.h"
#include "model/locks/wait_chains.h"
#include "report/locks/wait_texts.h"
#include "report/table.h"

namespace penna {

// `ends`: open_ends() of the recording.
Report order_report(const LockOrder& order, const Deadlocks& deadlocks, const WaitTexts& texts,
                    std::span<const uint64_t> ends);
// That report's table of cycles: one row per order in them.
Table inversions_table(const LockOrder& order, const WaitTexts& texts);
// Chains of waits for locks, and of waits for what other threads do.
Report chains_report(const WaitChains& chains, const Deadlocks& deadlocks, const WaitTexts& texts,
                     std::span<const uint64_t> ends);
// What a thread's time was spent on, and whom it waited for.
Report path_report(const CriticalPath& path, const WaitTexts& texts);

}  // namespace penna
