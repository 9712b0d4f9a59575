// SPDX-License-Identifier: MIT
// See process_option.h.
#include "options/process_option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/whole_number.h"
#include "model/events/summary.h"

namespace penna {

Result<ProcessChoice> parse_process(const std::string& text) {
  const std::string_view all = text;
  const size_t colon = all.find(':');
  const auto pid = whole_number<uint32_t>(all.substr(0, colon));
  const auto image = colon == all.npos ? std::optional<uint32_t>(0) : whole_number<uint32_t>(all.substr(colon + 1));
  if (pid && image && (colon == all.npos || *image != 0)) return ProcessChoice{*pid, *image, text};
  return Error{fmt::format(
      "--pid takes the number of a process, or PID:N for the Nth program that it was, as 1234:2, not '{}'", text)};
}

void add_process_option(OptionParser& parser, const char* names, std::optional<ProcessChoice>& choice,
                        const std::string& what) {
  parser.section("Which threads and processes");
  parser.value(names, choice, "PID[:N]", what + "; PID:N: the Nth program it ran (exec)", parse_process);
}

// Processes are in order of their beginning, so the Nth with this pid is the Nth program.
Result<std::vector<bool>> meant_processes(const Recording& recording, const ProcessChoice& choice) {
  std::vector<bool> result;
  uint32_t image = 0;
  for (const RecordedProcess& one : recording.processes()) {
    image += one.process.pid == choice.pid;
    result.push_back(one.process.pid == choice.pid && (choice.image == 0 || choice.image == image));
  }
  if (image == 0) return Error{fmt::format("no process {} is recorded: 'penna info' shows those that are", choice.pid)};
  if (std::find(result.begin(), result.end(), true) == result.end())
    return Error{fmt::format("process {} was {} only: 'penna info' shows them", choice.pid,
                             image == 1 ? "one program" : fmt::format("{} programs", image))};
  return result;
}

// At most eight are listed: a process can exec without limit.
std::string several_text(const Recording& recording, const std::optional<ProcessChoice>& choice) {
  if (!choice || choice->image != 0) return "";
  constexpr uint32_t kMost = 8;
  std::vector<std::string> names;
  uint32_t image = 0;
  for (const RecordedProcess& one : recording.processes()) {
    if (one.process.pid != choice->pid || ++image > kMost) continue;
    names.push_back(fmt::format("{}:{} {}", choice->pid, image, process_name(one.process)));
  }
  if (image < 2) return "";
  if (image > kMost) names.push_back(fmt::format("and {} more", image - kMost));
  return fmt::format("process {} was {} programs, of which --pid {}:N means one: {}", choice->pid, image, choice->pid,
                     fmt::join(names, ", "));
}

}  // namespace penna
