// SPDX-License-Identifier: MIT
// Why events were lost in the target, by named cause.
//
// Why in one place: record reports it at its end, info and health report it for the recording. Invariant: the causes
// add up to what was lost.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/events/summary.h"

namespace penna {

struct Losses {
  EventCounts events{};                               // all that were lost in the target
  std::array<uint64_t, PENNA_LOSS_COUNT> for_want{};  // of these, by penna_loss; the others had no chunk
  bool waits = true;                                  // --on-full=block

  void add(const penna_counters& counters);  // of a process; only the causes
  EventCounts without_chunk() const;
};

// "4 calls, as there were more caller/function pairs than can be tracked: choose fewer functions (-F)". One per
// cause.
std::vector<std::string> loss_texts(const Losses& losses);

}  // namespace penna
