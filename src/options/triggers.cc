// SPDX-License-Identifier: MIT
// See triggers.h.
#include "options/triggers.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/whole_number.h"
#include "report/units.h"

namespace penna {
namespace {

constexpr std::pair<std::string_view, TriggerAction> kActions[] = {{"on", TriggerAction::kOn},
                                                                   {"off", TriggerAction::kOff},
                                                                   {"filter", TriggerAction::kFilter},
                                                                   {"finish", TriggerAction::kFinish},
                                                                   {"notrace", TriggerAction::kNotrace},
                                                                   {"stack", TriggerAction::kStack},
                                                                   {"snapshot", TriggerAction::kSnapshot}};
constexpr std::string_view kDepth = "depth=", kTime = "time=";

// One sentence for every mistake: it shows all that is possible.
Error wrong(const std::string& text) {
  return Error{fmt::format(
      "--trigger is a function and what happens there, as 'work@on', 'work@off', 'work@filter', 'work@notrace', "
      "'work@depth=2', 'work@time=10us', 'work@finish', 'work@stack' or 'work@snapshot', not '{}'",
      text)};
}

std::optional<uint64_t> depth_of(std::string_view text) {
  const auto depth = whole_number<uint32_t>(text);
  return depth && *depth != 0 ? std::optional<uint64_t>(*depth) : std::nullopt;
}

// One word after the '@'. Empty: unknown, or its value is out of range.
std::optional<Trigger> parse_action(const FunctionPattern& function, std::string_view action) {
  for (const auto& [word, what] : kActions)
    if (action == word) return Trigger{function, what, std::string(action)};
  if (action.starts_with(kDepth)) {
    if (const auto depth = depth_of(action.substr(kDepth.size())))
      return Trigger{function, TriggerAction::kDepth, std::string(action), *depth};
  } else if (action.starts_with(kTime)) {
    if (const auto ns = parse_duration(std::string(action.substr(kTime.size()))); ns && *ns >= 0)
      return Trigger{function, TriggerAction::kTime, std::string(action), static_cast<uint64_t>(*ns)};
  }
  return {};
}

// Contains a single colon: PROVIDER:NAME, not shop::pay.
bool names_points(const std::string& pattern) {
  for (size_t at = pattern.find(':'); at != std::string::npos; at = pattern.find(':', at)) {
    const size_t end = std::min(pattern.find_first_not_of(':', at), pattern.size());
    if (end - at == 1) return true;
    at = end;
  }
  return false;
}

// See TriggerAction for the order.
bool is_filter(TriggerAction action) { return action < TriggerAction::kStack; }

}  // namespace

// Split at the last '@': symbol versions (memcpy@GLIBC) have one in the name. All words must be valid, or none counts.
Result<TriggerOption> parse_trigger(const std::string& text, FilterUse use) {
  const size_t at = text.rfind('@');
  if (at == text.npos || at == 0) return wrong(text);
  const FunctionPattern function(text.substr(0, at));
  std::string_view rest = std::string_view(text).substr(at + 1);
  std::vector<Trigger> triggers;
  for (bool more = true; more;) {
    const size_t comma = rest.find(',');
    more = comma != rest.npos;
    std::optional<Trigger> trigger = parse_action(function, rest.substr(0, comma));
    if (!trigger) return wrong(text);
    if (use == FilterUse::kReading && !is_filter(trigger->action))
      return Error{
          fmt::format("--trigger '{}' is for penna record: {}", text,
                      trigger->action == TriggerAction::kStack ? "only while the program runs there is a stack"
                                                               : "afterwards, -r and -T FUNC@off show what was before"),
      };
    if (trigger->action == TriggerAction::kStack && names_points(function.text()))
      trigger->action = TriggerAction::kPointStack;
    triggers.push_back(std::move(*trigger));
    if (more) rest.remove_prefix(comma + 1);
  }
  PENNA_TRY(check_pattern(function.text()));
  return TriggerOption{std::move(triggers), text};
}

std::vector<Trigger> triggers_of(const std::vector<TriggerOption>& options,
                                 std::initializer_list<TriggerAction> actions) {
  std::vector<Trigger> found;
  for (const TriggerOption& option : options)
    for (const Trigger& trigger : option.value)
      if (std::find(actions.begin(), actions.end(), trigger.action) != actions.end()) found.push_back(trigger);
  return found;
}

}  // namespace penna
