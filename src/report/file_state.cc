// SPDX-License-Identifier: MIT
// See file_state.h.
#include "report/file_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/calls/slowdown.h"
#include "report/reports.h"

namespace penna {
namespace {

// Identifiers for scripts: they never change.
const char* state_name(FileState state) {
  switch (state) {
    case FileState::kComplete: return "complete";
    case FileState::kDamaged: return "damaged";
    case FileState::kCut: return "cut";
    case FileState::kUnfinished: return "unfinished";
    case FileState::kUnwritten: return "end_unwritten";
  }
  return "";
}

// By penna_loss. These and the classes below are counted per kind; all other counters come from health.inc.
constexpr const char* kCauses[PENNA_LOSS_COUNT] = {
#define PENNA_LOSS(number, name, event_class, key, ...) "for_" key,
#include "penna/losses.inc"
#undef PENNA_LOSS
};

// In the order of an event's way. Includes counters of 0: a script need not know which may be missing.
std::vector<LossNumber> loss_numbers(const HealthReport& health) {
  std::vector<LossNumber> numbers;
  // In the target.
  for (uint32_t i = 0; i < PENNA_CLASS_COUNT; ++i) numbers.push_back({class_name(i), health.lost[i]});
  const EventCounts for_room = health.losses.without_chunk();
  for (uint32_t i = 0; i < PENNA_CLASS_COUNT; ++i)
    numbers.push_back({fmt::format("for_room_{}", class_name(i)), for_room[i]});
  for (uint32_t i = 0; i < PENNA_LOSS_COUNT; ++i) numbers.push_back({kCauses[i], health.losses.for_want[i]});
  const auto add_losses = [&](bool of_target) {
    for (const HealthCounter& counter : health_counters())
      if (*counter.key != '\0' && of_target == (counter.section == HealthSection::kTarget))
        numbers.push_back({counter.key, counter.value(health)});
  };
  add_losses(true);
  // On the way into the file, and in it.
  for (uint32_t i = 0; i < PENNA_CLASS_COUNT; ++i)
    numbers.push_back({fmt::format("unwritten_{}", class_name(i)), health.write_lost[i]});
  add_losses(false);
  // On request.
  for (uint32_t i = 0; i < PENNA_CLASS_COUNT; ++i)
    numbers.push_back({fmt::format("thrown_away_{}", class_name(i)), health.thrown_away[i]});
  return numbers;
}

// The cost in the process that recording slowed down the most. A call is two events. Picoseconds, as an event takes a
// few nanoseconds.
std::vector<LossNumber> cost_numbers(const Recording& recording) {
  std::vector<LossNumber> numbers;
  const auto costliest = costliest_process(recording);
  const Slowdown slowdown = costliest ? costliest->slowdown : Slowdown{};
  numbers.push_back({"slowdown_percent", static_cast<uint64_t>((slowdown.factor() - 1) * 100)});
  numbers.push_back({"recording_ns", static_cast<uint64_t>(slowdown.cost_ns)});
  numbers.push_back({"program_ns", static_cast<uint64_t>(slowdown.own_ns)});
  for (uint32_t i = 0; i < PENNA_CLASS_COUNT; ++i)
    numbers.push_back({fmt::format("event_ps_{}", class_name(i)),
                       costliest ? recording.processes()[costliest->process].end->costs[i].ps : 0});
  return numbers;
}

}  // namespace

FileState file_state(const Recording& recording) {
  const Damage& damage = recording.damage();
  if (damage.cut) return FileState::kCut;
  if (!recording.is_finished()) {
    const auto failures = recording.write_failures();
    return failures && failures->error != 0 ? FileState::kUnwritten : FileState::kUnfinished;
  }
  return damage.any() ? FileState::kDamaged : FileState::kComplete;
}

void add_health(Report& report, const Recording& recording, const HealthReport& health) {
  report.state = state_name(file_state(recording));
  report.loss = loss_numbers(health);
  report.cost = cost_numbers(recording);
  report.warnings = health_warnings(health);
}

const char* end_name(const ProcessSummary& process) {
  switch (process.ended ? process.how : EndKind::kUnknown) {
    case EndKind::kExited: return "exited";
    case EndKind::kSignaled: return "killed";
    case EndKind::kExec: return "exec";
    case EndKind::kStopped: return "stopped";
    case EndKind::kUnknown: break;
  }
  return "unknown";
}

}  // namespace penna
