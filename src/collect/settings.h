// SPDX-License-Identifier: MIT
// RecordSettings: what to record of a program, and how, for any recorder: penna record, or the program itself.
//
// Invariant: settings that check_settings() accepts reach a target completely.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "collect/memory_groups.h"
#include "filter/where.h"
#include "penna/channel.h"
#include "penna/event.h"
#include "recording/types.h"

namespace penna {

// A lock function without a try variant that takes this long counts as having waited.
inline constexpr uint64_t kTimedWaitNs = 5000;

struct RecordSettings {
  uint32_t classes = (1u << PENNA_CLASS_COUNT) - 1;  // bit mask of penna_event_class, never 0
  penna_on_full on_full = PENNA_ON_FULL_BLOCK;       // when the pool is empty
  uint32_t pool_mib = 64;                            // chunk pool of one process, 4..4096
  uint32_t stack_depth = PENNA_MAX_STACK_DEPTH;      // frames kept per stack, 1..PENNA_MAX_STACK_DEPTH
  uint64_t sample_bytes = 0;                         // sample one allocation in this many bytes; 0: record all
  uint32_t lock_sample = 0;                          // record one uncontended acquisition in this many; 0 and 1: all
  uint64_t min_wait_ns = 0;                          // shorter waits for locks count as uncontended
  uint64_t long_hold_ns = 0;                         // holds of at least this length record where they end; 0: none
  bool timed_locks = false;                          // also record locks of which only the functions are known
  bool free_stacks = false;                          // record stacks of frees too
  std::vector<std::string> point_patterns;  // globs "provider:name", "!" prefix: exclude these; none: all points
  std::vector<std::string> stacked_points;  // globs of the points that are recorded with their stacks
  std::vector<Where> conditions;            // on the arguments of points; all must hold
  std::vector<std::string>
      filter_words;  // the recording's description of its filters and requested functions: "min-time=10us"
};

// The mask for names such as "calls" (kClassNames).
Result<uint32_t> classes_of(const std::vector<std::string>& names);

// Session::time_shift: 5 if only allocations are recorded, which is 16 ns at 2 GHz; else 0. See docs/decisions/0023.
uint32_t time_shift_of(const RecordSettings& settings);

// Rejects patterns that are empty, or that do not fit into a target's configuration.
Result<> check_settings(const RecordSettings& settings);

// The configuration that is sent to a target.
penna_config config_for(const RecordSettings& settings);
// Makes the channel so small that a process whose groups limit its memory is not killed for what it records.
void fit_into(const GroupMemory& memory, penna_config& config);
// The session record for these settings.
Session describe_session(const RecordSettings& settings, const std::vector<std::string>& command);

}  // namespace penna
