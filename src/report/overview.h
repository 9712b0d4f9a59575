// SPDX-License-Identifier: MIT
// The summary of a recording: the top of every nonempty table.
#pragma once

#include "report/reports.h"

namespace penna {

// The analyses made; any may be null.
struct OverviewInputs {
  const Calls* calls = nullptr;
  const Allocations* allocations = nullptr;
  const Locks* locks = nullptr;
  const LockBlocks* lock_blocks = nullptr;
  const Points* points = nullptr;
  LeakSuppressor* suppressor = nullptr;
  const HeldCalls* held_calls = nullptr;
};
Report overview_report(const Recording& recording, const Summary& summary, const OverviewInputs& inputs, Names& names);

}  // namespace penna
