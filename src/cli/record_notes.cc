// SPDX-License-Identifier: MIT
// See record_notes.h.
#include "cli/record_notes.h"

#include <fmt/core.h>

#include <array>

#include "symbols/elf_facts.h"

namespace penna {
namespace {

constexpr std::array<const char*, PENNA_CLASS_COUNT> kClassNames = {"calls", "allocation events", "lock events", "points"};

std::string human_bytes(uint64_t bytes) {
  double value = static_cast<double>(bytes);
  for (const char* unit : {"B", "KB", "MB"}) {
    if (value < 1000) return unit[0] == 'B' ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, unit);
    value /= 1000;
  }
  return fmt::format("{:.1f} GB", value);
}

std::string list_counts(const std::array<uint64_t, PENNA_CLASS_COUNT>& counts) {
  std::string text;
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i) {
    if (counts[i] == 0) continue;
    // A call is written as two records: its entry and its exit.
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", i == PENNA_CALLS ? counts[i] / 2 : counts[i], kClassNames[i]);
  }
  return text.empty() ? "no events" : text;
}

}  // namespace

void print_closing_lines(const RecordingTimes& times, const Collector& collector, const std::string& unrecorded) {
  const CollectorTotals& totals = collector.totals();
  const RecordingWriter& writer = collector.writer();
  double seconds = static_cast<double>(times.end.monotonic_ns - times.begin.monotonic_ns) / 1e9;
  double ns_per_tick = seconds * 1e9 / static_cast<double>(times.end.ticks - times.begin.ticks + 1);
  std::array<uint64_t, PENNA_CLASS_COUNT> stored{}, lost{};
  uint64_t lost_sum = 0;
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i) {
    stored[i] = totals.stored[i] - writer.lost()[i];
    lost[i] = totals.lost[i] + writer.lost()[i];
    lost_sum += lost[i];
  }
  fmt::print(stderr, "penna: {}: {}, {:.3f} s, {} process{}\n", times.path, human_bytes(writer.file_bytes()), seconds,
             totals.processes, totals.processes == 1 ? "" : "es");
  fmt::print(stderr, "penna: {}; {}{}\n", list_counts(stored), lost_sum == 0 ? "0 lost" : "LOST: " + list_counts(lost),
             totals.torn == 0 ? "" : fmt::format(", {} torn", totals.torn));
  fmt::print(stderr, "penna: start-up cost {:.2f} ms, {:.1f} ms waited for room\n",
             static_cast<double>(totals.start_cost_ticks) * ns_per_tick / 1e6,
             static_cast<double>(totals.threads_blocked_ticks) * ns_per_tick / 1e6);
  if (!unrecorded.empty()) fmt::print(stderr, "penna: {}\n", unrecorded);
  fmt::print(stderr, "penna: next: penna report {}\n", times.path);
}

std::string why_unrecorded(const std::string& command, uint32_t processes) {
  return processes != 0 ? std::string() : "nothing was recorded of " + command;
}

}  // namespace penna
