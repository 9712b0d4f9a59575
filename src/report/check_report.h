// SPDX-License-Identifier: MIT
// penna check: limits and what was found, and for each broken limit the stacks to blame.
// Invariant: the first table has a row for every verdict.
#pragma once

#include <vector>

#include "model/verdict/checks.h"
#include "report/table.h"

namespace penna {

// `blocks`: the allocations that were checked, for their family's name; null: none were.
Report check_report(const Recording& recording, const std::vector<Verdict>& verdicts, Names& names,
                    const Allocations* blocks = nullptr);

}  // namespace penna
