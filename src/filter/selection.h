// SPDX-License-Identifier: MIT
// Selection: what readers of a recording's events leave out: calls, points, threads.
//
// Why it hangs on the Recording: it reaches every reader of events, so that no pass can forget to ask.
// Invariant: it is complete before the first event is read; until the next select() it never changes, so readers share
// it, on any number of processors.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "filter/call_sieve.h"
#include "filter/where.h"
#include "recording/reader.h"

namespace penna {

struct Selection {
  std::shared_ptr<const CallRules> calls;                // CallSieve; null: all. Not rough.
  std::shared_ptr<const std::vector<Where>> conditions;  // PointSelection; null: all points
  std::vector<bool> threads;                             // by index; empty: all
};

// Null: nothing was selected.
inline const CallRules* call_rules(const Recording& recording) {
  const Selection* const selection = recording.selection();
  return selection == nullptr ? nullptr : selection->calls.get();
}
inline std::shared_ptr<const std::vector<Where>> point_conditions(const Recording& recording) {
  const Selection* const selection = recording.selection();
  return selection == nullptr ? nullptr : selection->conditions;
}
// Whether only a range of time is read (-r).
inline bool reads_range(const Recording& recording) {
  const CallRules* const rules = call_rules(recording);
  return rules != nullptr && rules->has_range();
}
inline bool selects_threads(const Recording& recording) {
  return recording.selection() != nullptr && !recording.selection()->threads.empty();
}
// Code that pairs events of several threads reads all of them and counts what these did.
inline bool takes_thread(const Recording& recording, uint32_t thread) {
  return !selects_threads(recording) || recording.selection()->threads[thread];
}

// Replaces the rules and keeps the rest of the selection.
void select_calls(Recording& recording, CallRules rules);

}  // namespace penna
