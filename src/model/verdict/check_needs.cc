// SPDX-License-Identifier: MIT
// See check_needs.h.
#include "model/verdict/check_needs.h"

#include <fmt/format.h>

#include <cmath>

#include "base/count_text.h"
#include "model/events/event_cursor.h"
#include "model/events/sampling.h"

namespace penna {

// Each reason says on which side the truth may lie: more than was found, or fewer (only if ends count).
std::vector<Missing> missing_events(const HealthReport& health, penna_event_class of, Ends ends, bool all_processes) {
  const bool fewer = ends == Ends::kCount;
  std::vector<Missing> list;
  if (check_lost(health, of, "").found != 0) list.push_back({"events were lost", true, fewer});
  if (check_gaps(health)) list.push_back({"the recording has gaps, which 'penna report health' names", true, fewer});
  if (health.thrown_away[of] != 0)
    list.push_back({"events before and between snapshots were thrown away", true, fewer});
  for (size_t i = 0; i < health.missed_by_notes.size(); ++i) {
    if ((health.missed_by_notes[i] >> of & 1) == 0) continue;
    if (!all_processes && health.missed_by_notes[i] == kNoteOfAllClasses) continue;
    // Bits may outlive their sentence if the file was full.
    const bool is_stored = i < health.notes.size();
    list.push_back({is_stored ? health.notes[i] : "notes on what is not recorded found no room in the file", true,
                    fewer && health.is_half(i)});
  }
  return list;
}

std::vector<Missing> missing_blocks(const Recording& recording, const HealthReport& health, Ends ends) {
  const bool fewer = ends == Ends::kCount;
  std::vector<Missing> list;
  if (health.target.allocators_refused != 0)
    list.push_back({plural_text(health.target.allocators_refused, "function of allocators", "functions of allocators") +
                        " could not be entered",
                    true, fewer});
  if (health.target.ended_at_once != 0)
    list.push_back({plural_text(health.target.ended_at_once, "call freed", "calls freed") +
                        " all blocks of a heap at once (mi_heap_destroy, arenas of jemalloc); which blocks is unknown",
                    false, fewer});
  const bool has_range = reads_range(recording);
  if (health.unmatched_frees != 0 && !has_range)
    list.push_back(
        {plural_text(health.unmatched_frees, "block was", "blocks were") +
             " freed whose allocation is not recorded ('penna report alloc --unmatched' shows where), so there may "
             "be others that were not",
         true, false});
  if (health.replaced_blocks != 0 && fewer)
    list.push_back({plural_text(health.replaced_blocks, "block was", "blocks were") +
                        " allocated where another one had not been freed, so frees are missing",
                    false, true});
  return list;
}

std::optional<Missing> missing_stacks(uint64_t allocations, const char* what) {
  if (allocations == 0) return {};
  return Missing{fmt::format("of {} the outer frames of the stack are not known, where {} may stand",
                             plural_text(allocations, "allocation", "allocations"), what),
                 true, false};
}

std::optional<Missing> missing_samples(const Verdict& verdict, uint64_t mean, std::optional<uint64_t> samples) {
  constexpr double kErrors = 4;        // standard errors: one case in 15,000
  constexpr double kNothingFound = 7;  // this many times the mean are missed entirely in one case of 1,000
  if (mean == 0) return {};
  const auto found = static_cast<double>(verdict.found), allowed = static_cast<double>(verdict.allowed);
  const auto bytes = static_cast<double>(mean);
  Missing missing{fmt::format("only a sample was recorded, one in {} bytes, and says it not exactly enough",
                              count_text(static_cast<int64_t>(mean))),
                  true, verdict.allowed != 0};
  // Sampled blocks are a Poisson process over allocated bytes: a sum of n samples of `mean` bytes each has a standard
  // error of mean * sqrt(n). Without the number of samples it is estimated from the sum itself.
  if (verdict.unit == Verdict::Unit::kBytes) {
    const double error = samples
                             ? found * kErrors * sampling_error(*samples)
                             : bytes * (kErrors * std::sqrt(found / bytes) + (found == 0 ? kNothingFound : kErrors));
    missing.more = found + error > allowed;
    missing.less = verdict.allowed != 0 && found - error <= allowed;
  }
  return missing.more || missing.less ? std::optional(missing) : std::nullopt;
}

}  // namespace penna
