// SPDX-License-Identifier: MIT
// HealthReport: everything that was lost, torn, cut, unmatched or guessed, in one struct and in sentences.
//
// Why: a number that is silently wrong costs its reader a day. Views show sentences() after every table.
// Invariant: a nonzero count of something lost has a sentence; without sentences nothing that Penna knows of is
// missing.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/events/summary.h"
#include "model/names/names.h"
#include "model/verdict/health_counters.h"
#include "model/verdict/losses.h"

namespace penna {

class Allocations;
class Calls;
class Locks;
class Points;
struct WalkReport;

struct HealthSentence {
  Severity severity = Severity::kNote;
  std::string text;  // cause, size, next step
};

// A module's allocations: how completely their stacks are known.
struct ModuleStacks {
  std::string file;  // "(unknown)": without a stack
  uint64_t complete = 0, truncated = 0, unknown = 0;
};

struct HealthReport {
  // The file.
  bool finished = true;  // cleanly
  Damage damage;
  EventCounts write_lost{};  // could not be written (full disk)
  int write_errno = 0;
  bool write_unknown = false;  // the field of the file that would say so is damaged
  // Standalone counters: penna/health.inc.
#define PENNA_HEALTH_FOUND(rank, field, ...) uint64_t field = 0;
#include "penna/health.inc"
  // The target.
  EventCounts lost{};
  Losses losses;            // the same, by cause
  bool imported = false;    // from a stream: there was no recorder
  penna_counters target{};  // sums over processes: add_counters()
  Health recorder{};        // sums over threads and processes, of the counters in penna/health.inc
  uint64_t blocked_ticks = 0;
  double blocked_ns = 0;
  std::array<uint64_t, 4> truncated_stacks{};  // by penna_stack_end; [0] is unused
  bool no_rule_at_most = false;  // some of those without rule may have ended where the process began, and are complete
  std::vector<std::string> no_rule_files;   // where the incomplete ones ended; by name; empty without names
  std::vector<ModuleStacks> module_stacks;  // if there are allocations and names; most truncated and unknown first
  // The recorder.
  EventCounts thrown_away{};                                // before, between and after snapshots
  std::array<uint64_t, PENNA_CLASS_COUNT> event_cost_ps{};  // measured; 0 = not measured
  std::vector<std::string> notes;                           // its own sentences
  std::vector<uint32_t> missed_by_notes;                    // CollectorHealth; at least as many
  bool is_half(size_t note) const { return (missed_by_notes[note] & kNoteOfHalf) != 0; }
  std::string slowdown;     // slowdown_text()
  bool any_process = true;  // false: the notes say why there is none
  // The analyses that were passed.
  uint64_t sample_bytes = 0;         // of record --sample-bytes; 0: all allocations were recorded
  double hold_distortion = 0;        // by how much recording prolonged lock holds: as a part of the time they took
  std::vector<ModuleNames> modules;  // that were looked up for names

  std::vector<HealthSentence> sentences;                    // most severe first
  bool good() const { return worst() == Severity::kNote; }  // the numbers are right, whatever notes there are
  Severity worst() const { return sentences.empty() ? Severity::kNote : sentences.front().severity; }
};

// The analyses made; any may be null. (A report's own list, OverviewInputs, has more: the model does not know about
// reports.)
struct HealthInputs {
  const WalkReport* walk = nullptr;
  const Calls* calls = nullptr;
  const Allocations* allocations = nullptr;
  const Locks* locks = nullptr;
  const Points* points = nullptr;
  Names* names = nullptr;
};
HealthReport examine(const Recording& recording, const Summary& summary, const HealthInputs& inputs);

}  // namespace penna
