// SPDX-License-Identifier: MIT
// See call_plans.h.
#include "cli/call_plans.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "model/function_chooser.h"
#include "model/function_pattern.h"
#include "report/units.h"

namespace penna {
namespace {

std::vector<FunctionPattern> patterns_of(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

template <typename Patterns>
bool any_matches(const Patterns& patterns, const std::string& text) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const auto& one) { return one.matches(text); });
}

}  // namespace

PatchWishes patch_wishes(const RecordOptions& options) {
  PatchWishes wishes;
  wishes.libcalls = options.libcalls;
  const FilterOptions& filter = options.filter;
  if (filter.functions.empty()) return wishes;
  // A trigger is FUNCTION@on or FUNCTION@off.
  std::vector<FunctionPattern> deciding = patterns_of(filter.callers);
  for (const std::string& trigger : filter.triggers) deciding.emplace_back(trigger.substr(0, trigger.rfind('@')));
  wishes.wanted = [only = patterns_of(filter.functions), never = patterns_of(filter.not_functions), deciding,
                   modules = std::vector<PathPattern>(filter.modules.begin(), filter.modules.end())](
                      const std::string& name, const std::string& file) {
    if (any_matches(deciding, name)) return true;
    return any_matches(only, name) && !any_matches(never, name) && (modules.empty() || any_matches(modules, file));
  };
  return wishes;
}

void plan_calls(Server& server, PatchPlanner& planner, const RecordOptions& options) {
  if ((options.classes & (1u << PENNA_CALLS)) == 0) return;
  server.set_planner([&planner](std::span<const penna_patch_question> questions, uint32_t pid) {
    return planner.answer(questions, fmt::format("/proc/{}/root", pid));
  });
}

std::string note_refused(const PatchPlanner& planner, Collector& collector) {
  constexpr size_t kMostNotes = 1000;
  const std::vector<RefusedFunction>& refused = planner.refused();
  if (refused.empty()) return {};
  const auto sentence = [](const RefusedFunction& one) {
    return fmt::format("calls of {} [{}] are not recorded: it {}", one.name,
                       std::filesystem::path(one.file).filename().string(), one.reason);
  };
  for (size_t i = 0; i < std::min(refused.size(), kMostNotes); ++i) collector.note(sentence(refused[i]), false);
  if (refused.size() == 1) return sentence(refused[0]);
  return fmt::format("{}, and {} more (see: penna report health)", sentence(refused[0]),
                     count_text(static_cast<int64_t>(refused.size() - 1)));
}

}  // namespace penna
