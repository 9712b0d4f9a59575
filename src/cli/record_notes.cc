// SPDX-License-Identifier: MIT
// See record_notes.h.
#include "cli/record_notes.h"

#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "base/say.h"
#include "symbols/elf_facts.h"

namespace penna {
namespace {

constexpr std::array<const char*, PENNA_CLASS_COUNT> kClassNames = {"calls", "allocation events", "lock events",
                                                                    "points"};

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
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", i == PENNA_CALLS ? counts[i] / 2 : counts[i], kClassNames[i]);
  }
  return text.empty() ? "no events" : text;
}

// The file that the shell would run for `command`.
std::string find_program(const std::string& command) {
  if (command.find('/') != std::string::npos) return command;
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    size_t end = std::min(rest.find(':'), rest.size());
    std::string candidate = fmt::format("{}/{}", rest.substr(0, end), command);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return command;
}

}  // namespace

void print_closing_lines(const RecordingTimes& times, const Collector& collector, const std::string& unrecorded) {
  const CollectorTotals& totals = collector.totals();
  const RecordingWriter& writer = collector.writer();
  double ns = static_cast<double>(times.end.monotonic_ns - times.begin.monotonic_ns);
  double ms_per_tick = ns / static_cast<double>(times.end.ticks - times.begin.ticks + 1) / 1e6;
  std::array<uint64_t, PENNA_CLASS_COUNT> stored{}, lost{};
  uint64_t lost_sum = 0, on_disk_lost = 0;
  for (int i = 0; i < PENNA_CLASS_COUNT; ++i) {
    stored[i] = totals.stored[i] - writer.lost()[i];
    lost[i] = totals.lost[i] + writer.lost()[i];
    lost_sum += lost[i];
    on_disk_lost += writer.lost()[i];
  }
  say(fmt::format("{}: {}, {:.3f} s, {} process{}", times.path, human_bytes(writer.file_bytes()), ns / 1e9,
                  totals.processes, totals.processes == 1 ? "" : "es"));
  say(fmt::format("{}; {}{}", list_counts(stored),
                  lost_sum == 0 ? "0 lost" : fmt::format("{} LOST ({})", lost_sum, list_counts(lost)),
                  totals.torn == 0 ? "" : fmt::format(", {} torn", totals.torn)));
  if (totals.processes != 0)
    say(fmt::format("start-up cost {:.2f} ms, {:.1f} ms waited for room",
                    static_cast<double>(totals.start_cost_ticks) * ms_per_tick,
                    static_cast<double>(totals.threads_blocked_ticks) * ms_per_tick));
  if (on_disk_lost != 0)
    say("some events could not be written to the file: make room on its disk, or record elsewhere with -o");
  else if (lost_sum != 0)
    say("events were lost because the pool was full: use --on-full=block, or a larger --pool");
  if (!unrecorded.empty()) say(unrecorded);
  say(fmt::format("next: penna report {}", times.path));
}

std::string why_unrecorded(const std::string& command) {
  auto facts = read_elf_facts(find_program(command));
  if (!facts || !facts->is_elf) return fmt::format("nothing was recorded of {}: it never met the recorder", command);
  if (facts->is_static)
    return fmt::format(
        "nothing was recorded of {}: it is statically linked, so no agent can be preloaded; link it dynamically",
        command);
  if (facts->bits != 64 || facts->machine_name != "x86-64")
    return fmt::format("nothing was recorded of {}: it is a {}-bit {} program, and the agent is for x86-64", command,
                       facts->bits, facts->machine_name);
  if (facts->setuid)
    return fmt::format(
        "nothing was recorded of {}: it is setuid or has capabilities, so nothing can be preloaded; record it as the "
        "user whose rights it takes",
        command);
  return fmt::format(
      "nothing was recorded of {}: it ended before it met the recorder, or its limits (ulimit) leave no room", command);
}

std::string say_unrecorded(uint32_t count) {
  return fmt::format(
      "{} that it started {} not recorded: static, setuid or 32-bit, or with limits (ulimit) that leave no room",
      count == 1 ? std::string("a program") : fmt::format("{} programs", count), count == 1 ? "was" : "were");
}

}  // namespace penna
