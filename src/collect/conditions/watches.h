// SPDX-License-Identifier: MIT
// The watch of each kind of condition; watch_for() chooses among them.
#pragma once

#include <memory>

#include "collect/conditions/condition.h"

namespace penna {

std::unique_ptr<ForwardingObserver> watch_waits(const SnapshotCondition& condition, ConditionHelp help);
std::unique_ptr<ForwardingObserver> watch_spans(const SnapshotCondition& condition, ConditionHelp help);
std::unique_ptr<ForwardingObserver> watch_calls(const SnapshotCondition& condition, ConditionHelp help);
std::unique_ptr<ForwardingObserver> watch_points(const SnapshotCondition& condition, ConditionHelp help);
std::unique_ptr<ForwardingObserver> watch_live(const SnapshotCondition& condition, ConditionHelp help);
std::unique_ptr<ForwardingObserver> watch_rss(const SnapshotCondition& condition, ConditionHelp help);
std::unique_ptr<ForwardingObserver> watch_crashes(const SnapshotCondition& condition, ConditionHelp help);

}  // namespace penna
