// SPDX-License-Identifier: MIT
// See process_option.h.
#include "cli/options/process_option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "model/events/summary.h"

namespace penna {
namespace {

struct Meant {
  uint32_t pid = 0;
  uint32_t image = 0;  // 0: all
};

std::optional<uint32_t> whole(std::string_view text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Meant> parse(std::string_view text) {
  const size_t colon = text.find(':');
  const auto pid = whole(text.substr(0, colon));
  const auto image = colon == text.npos ? std::optional<uint32_t>(0) : whole(text.substr(colon + 1));
  if (!pid || !image || (colon != text.npos && *image == 0)) return std::nullopt;
  return Meant{*pid, *image};
}

Error malformed(const std::string& text) {
  return Error{fmt::format(
      "--pid takes the number of a process, or PID:N for the Nth program that it was, as 1234:2, not '{}'", text)};
}

}  // namespace

void add_process_option(OptionParser& parser, const char* names, std::string& pid, const std::string& what) {
  parser.text(names, pid, "PID[:N]", what + "; PID:N: the Nth program that it was (exec)");
}

Result<> check_process(const std::string& pid) {
  if (!pid.empty() && !parse(pid)) return malformed(pid);
  return ok();
}

Result<std::vector<bool>> meant_processes(const Recording& recording, const std::string& pid) {
  const std::optional<Meant> meant = parse(pid);
  if (!meant) return malformed(pid);
  std::vector<bool> result;
  uint32_t image = 0;
  for (const RecordedProcess& one : recording.processes()) {
    image += one.process.pid == meant->pid;
    result.push_back(one.process.pid == meant->pid && (meant->image == 0 || meant->image == image));
  }
  if (image == 0) return Error{fmt::format("no process {} is recorded: 'penna info' shows those that are", meant->pid)};
  if (std::find(result.begin(), result.end(), true) == result.end())
    return Error{fmt::format("process {} was {} only: 'penna info' shows them", meant->pid,
                             image == 1 ? "one program" : fmt::format("{} programs", image))};
  return result;
}

std::string several_text(const Recording& recording, const std::string& pid) {
  const std::optional<Meant> meant = parse(pid);
  if (!meant || meant->image != 0) return "";
  constexpr uint32_t kMost = 8;
  std::vector<std::string> names;
  uint32_t image = 0;
  for (const RecordedProcess& one : recording.processes()) {
    if (one.process.pid != meant->pid || ++image > kMost) continue;
    names.push_back(fmt::format("{}:{} {}", meant->pid, image, process_name(one.process)));
  }
  if (image < 2) return "";
  if (image > kMost) names.push_back(fmt::format("and {} more", image - kMost));
  return fmt::format("process {} was {} programs, of which --pid {}:N means one: {}", meant->pid, image, meant->pid,
                     fmt::join(names, ", "));
}

}  // namespace penna
