// SPDX-License-Identifier: MIT
// HealthReport: everything that was lost, torn, cut, unmatched or guessed, in one struct and in sentences.
//
// Why: a number that is silently wrong costs its reader a day. Views show sentences() behind every table.
// Invariant: a count of something lost that is not zero has a sentence; without sentences nothing that Penna knows of
// is missing.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/events/summary.h"
#include "model/names/names.h"
#include "model/verdict/losses.h"

namespace penna {

class Allocations;
class Calls;
class Locks;
class Points;
struct WalkReport;

enum class Severity : uint8_t {
  kNote,     // worth knowing; the numbers are right
  kWarning,  // some numbers are too small or in the wrong place
  kError,    // part of the recording is gone
};

struct HealthSentence {
  Severity severity = Severity::kNote;
  std::string text;  // cause, size, next step
};

// Of the allocations that a module asked for: how far their stacks are known.
struct ModuleStacks {
  std::string file;  // "(unknown)": those without a stack
  uint64_t complete = 0, truncated = 0, unknown = 0;
};

struct HealthReport {
  // The file.
  bool finished = true;  // cleanly
  Damage damage;
  EventCounts write_lost{};  // could not be written (full disk)
  int write_errno = 0;
  bool write_unknown = false;  // the place in the file that would say so is damaged
  uint64_t missing_chunks = 0, unreadable_chunks = 0;
  // The target.
  EventCounts lost{};
  Losses losses;            // the same, with their causes
  bool imported = false;    // of a stream: there was no recorder
  uint64_t in_handler = 0;  // of them: because they came while the agent itself was at work
  uint64_t torn = 0, holes = 0, damaged_chunks = 0, abandoned_chunks = 0, unknown_records = 0;
  uint64_t blocked_ticks = 0;
  double blocked_ns = 0;
  std::array<uint64_t, 4> truncated_stacks{};  // by penna_stack_end; [0] is unused
  bool no_rule_at_most = false;  // some of those without rule may have ended where the process began: complete
  std::vector<std::string> no_rule_files;   // where those ended that are short; by name, without names: empty
  uint64_t unstored_stacks = 0;             // the stack tree was full
  std::vector<ModuleStacks> module_stacks;  // when there are allocations and names; most truncated and unknown first
  uint64_t sites_armed = 0, sites_refused = 0;
  uint64_t functions_patched = 0, functions_refused = 0;
  uint64_t values_lost = 0;
  uint64_t without_calls = 0;  // processes whose filters forbid what recording needs
  uint64_t unfollowed = 0;     // programs and processes that would have ended of it
  uint64_t without_clock = 0;  // processes that forbade themselves to read it
  uint64_t modules_unknown = 0;
  uint64_t allocators_refused = 0;  // functions of allocators that could not be entered and are not in the notes
  uint64_t ended_at_once = 0;       // calls that ended blocks of which nobody tells
  // The recorder.
  uint64_t snapshots = 0;
  EventCounts thrown_away{};  // before, between and behind them
  uint64_t refused_channels = 0, unannounced_processes = 0, processes_without_end = 0;
  std::array<uint64_t, PENNA_CLASS_COUNT> event_cost_ps{};  // measured; 0 = not
  std::vector<std::string> notes;                           // its own sentences
  std::vector<uint32_t> missed_by_notes;                    // CollectorHealth; at least as many
  bool is_half(size_t note) const { return (missed_by_notes[note] & kNoteOfHalf) != 0; }
  std::string slowdown;     // slowdown_text()
  bool any_process = true;  // false: they say why there is none
  // The analyses that were given.
  uint64_t stray_exits = 0, inherited_exits = 0, unwound_calls = 0, too_deep_calls = 0;
  uint64_t sample_bytes = 0;  // of record --sample-bytes; 0: all allocations were recorded
  uint64_t unmatched_frees = 0, replaced_blocks = 0, allocations_without_stack = 0;
  uint64_t inherited_frees = 0;
  uint64_t inherited_unlocks = 0, unmatched_unlocks = 0, missed_unlocks = 0;
  double hold_distortion = 0;  // how much longer recording made holds of locks: part of the time that they took
  uint64_t malformed_points = 0, points_without_site = 0;
  std::vector<ModuleNames> modules;  // that were asked for names

  std::vector<HealthSentence> sentences;                    // most severe first
  bool good() const { return worst() == Severity::kNote; }  // the numbers are right, whatever else there is to know
  Severity worst() const { return sentences.empty() ? Severity::kNote : sentences.front().severity; }
};

// Analyses that were made; all may be null.
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
