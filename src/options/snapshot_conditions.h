// SPDX-License-Identifier: MIT
// --on CONDITION of penna record: what a snapshot is taken for.
//
// Invariant: what parse_snapshot_conditions() returns can be met: a limit is above zero, a pattern is valid.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "collect/conditions/condition.h"
#include "penna/event.h"

namespace penna {

// "wait > 100ms || span(checkout) > 1s || rss > +100MB || crash", each by itself. The error says what is possible.
Result<std::vector<SnapshotCondition>> parse_snapshot_conditions(const std::string& text);
// The kind of events that it needs; PENNA_NO_CLASS: none.
penna_event_class class_of(const SnapshotCondition& condition);

}  // namespace penna
