// SPDX-License-Identifier: MIT
// RecordSettings: what is recorded of a program, and how, whoever records: penna record, or the program itself.
//
// Invariant: settings that check_settings() accepts are told to a target whole.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "filter/where.h"
#include "penna/channel.h"
#include "penna/event.h"
#include "recording/types.h"

namespace penna {

// So long in a lock function that cannot be tried is a wait.
inline constexpr uint64_t kTimedWaitNs = 5000;

struct RecordSettings {
  uint32_t classes = (1u << PENNA_CLASS_COUNT) - 1;  // bit mask of penna_event_class, never 0
  penna_on_full on_full = PENNA_ON_FULL_BLOCK;       // when the pool is empty
  uint32_t pool_mib = 64;                            // chunk pool of one process, 4..4096
  uint32_t stack_depth = PENNA_MAX_STACK_DEPTH;      // frames kept of a stack, 1..PENNA_MAX_STACK_DEPTH
  uint64_t sample_bytes = 0;                         // one allocation in so many bytes; 0: all
  uint32_t lock_sample = 0;                          // one acquisition without waiting in so many; 0 and 1: all
  uint64_t min_wait_ns = 0;                          // shorter waits for locks are acquisitions without waiting
  uint64_t long_hold_ns = 0;                         // holds of locks that say where they end; 0: none
  bool timed_locks = false;                          // locks are recorded of which only their functions are known
  bool free_stacks = false;                          // frees have stacks, too
  std::vector<std::string> point_patterns;           // globs "provider:name", '!' in front: not these; none: all points
  std::vector<std::string> stacked_points;           // globs of those of them that have their stacks recorded
  std::vector<Where> conditions;                     // on the arguments of points; all must be met
  std::vector<std::string>
      filter_words;  // what the recording says of its filters, and of functions that were asked for: "min-time=10us"
};

// The mask of such names as "calls" (kClassNames).
Result<uint32_t> classes_of(const std::vector<std::string>& names);

// Session::time_shift: where allocations alone are recorded, 5, which is 16 ns at 2 GHz. Else 0. docs/decisions/0023.
uint32_t time_shift_of(const RecordSettings& settings);

// Patterns that are empty, or more than a target can be told.
Result<> check_settings(const RecordSettings& settings);

// What a target is told.
penna_config config_for(const RecordSettings& settings);
// What the recording says of itself.
Session describe_session(const RecordSettings& settings, const std::vector<std::string>& command);

}  // namespace penna
