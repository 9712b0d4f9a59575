// SPDX-License-Identifier: MIT
// Limits of penna check on lock order: --no-inversions and --no-deadlock.
// Invariant: a broken limit has a table with all its stacks.
#pragma once

#include <vector>

#include "analysis/wait_analyses.h"
#include "model/verdict/checks.h"
#include "options/arguments.h"
#include "report/locks/wait_texts.h"

namespace penna {

// Flags, not numbers: one inversion or deadlock is one too many.
struct WaitLimits {
  bool no_inversions = false, no_deadlock = false;
  bool any() const { return no_inversions || no_deadlock; }
};
void add_wait_limit_options(OptionParser& parser, WaitLimits& limits);
// `waits` may be null if there are no limits.
std::vector<Verdict> judge_waits(const WaitLimits& limits, const WaitAnalyses* waits);
// For the broken limits.
std::vector<Table> tables_of_waits(const WaitLimits& limits, const WaitAnalyses& waits, const WaitTexts& texts);

}  // namespace penna
