// SPDX-License-Identifier: MIT
// See stopping.h.
#include "agent/core/stopping.h"

#include "agent/core/state.h"
#include "agent/patch/points.h"
#include "agent/patch/probes.h"

namespace penna::agent {

void stop_recording() {
  __atomic_fetch_and(&process.armed, ~(((1u << PENNA_CLASS_COUNT) - 1) | kCallsAtOnce), __ATOMIC_RELAXED);
  stop_points();
  stop_probes();
}

void leave_system_calls() {
  __atomic_fetch_and(&process.armed, ~(((1u << PENNA_CLASS_COUNT) - 1) | kCallsAtOnce), __ATOMIC_RELAXED);
  process.channel->counters.calls_forbidden = 1;
}

}  // namespace penna::agent
