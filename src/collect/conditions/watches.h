// SPDX-License-Identifier: MIT
// The watch of each kind of condition; watch_for() chooses among them.
#pragma once

#include <memory>

#include "collect/conditions/condition.h"

namespace penna {

std::unique_ptr<PassingOnlooker> watch_waits(const SnapshotCondition& condition, ConditionHelp help);
std::unique_ptr<PassingOnlooker> watch_spans(const SnapshotCondition& condition, ConditionHelp help);
std::unique_ptr<PassingOnlooker> watch_calls(const SnapshotCondition& condition, ConditionHelp help);
std::unique_ptr<PassingOnlooker> watch_points(const SnapshotCondition& condition, ConditionHelp help);
std::unique_ptr<PassingOnlooker> watch_live(const SnapshotCondition& condition, ConditionHelp help);
std::unique_ptr<PassingOnlooker> watch_rss(const SnapshotCondition& condition, ConditionHelp help);
std::unique_ptr<PassingOnlooker> watch_crashes(const SnapshotCondition& condition, ConditionHelp help);

}  // namespace penna
