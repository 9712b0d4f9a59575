// SPDX-License-Identifier: MIT
// See function_chooser.h.
#include "model/names/function_chooser.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace penna {
namespace {

// Functions as they are usually typed; paths without their directories.
std::string_view short_name(std::string_view text, std::string_view pattern) {
  return text.starts_with('/') ? text.substr(text.rfind('/') + 1) : name_for_pattern(text, pattern);
}

// A format string, like those of the other options.
std::string limit_option(const FunctionLimit& limit) { return "-T '{}@" + limit.action + "'"; }

}  // namespace

FunctionChooser::FunctionChooser(FunctionChoice choice, std::unique_ptr<SymbolSource> symbols)
    : choice_(std::move(choice)), symbols_(std::move(symbols)) {
  ask("-F '{}'", choice_.only);
  ask("-N '{}'", choice_.never);
  ask("--hide '{}'", choice_.hidden);
  ask("--caller '{}'", choice_.callers);
  ask("--paths-to '{}'", choice_.targets);
  ask("-T '{}@on'", choice_.on);
  ask("-T '{}@off'", choice_.off);
  ask("-T '{}@snapshot'", choice_.snapshots);
  ask("-T '{}@filter'", choice_.filters);
  ask("-T '{}@notrace'", choice_.notraces);
  ask("-T '{}@finish'", choice_.finishes);
  for (const FunctionLimit& limit : choice_.limits)
    if (!limit.was_recorded) ask(limit_option(limit), std::span(&limit.function, 1));
  ask("--module '{}'", choice_.modules);
  ask("--source '{}'", choice_.sources);
}

template <typename Patterns>
void FunctionChooser::ask(const std::string& option, const Patterns& patterns) {
  for (const auto& pattern : patterns)
    asked_.try_emplace(fmt::format(fmt::runtime(option), pattern.text()), Asked{false, NearestName(pattern.text())});
}

bool FunctionChooser::learn(uint32_t process, const Module& module) {
  const std::lock_guard guard(mutex_);
  Modules& modules = processes_[process];
  if (modules.list.size() >= kMaxModules ||
      std::find(modules.list.rbegin(), modules.list.rend(), module) != modules.list.rend())
    return false;
  std::string key = module.path + '\0';
  key.append(module.build_id.begin(), module.build_id.end());
  modules.ids.push_back(files_.try_emplace(std::move(key), static_cast<ModuleId>(files_.size())).first->second);
  modules.list.push_back(module);
  modules.stale = true;
  return true;
}

FunctionTraits FunctionChooser::traits(uint32_t process, uint64_t pc, uint64_t ticks) {
  const std::lock_guard guard(mutex_);
  Modules& modules = processes_[process];
  if (modules.stale) {
    modules.map = ModuleMap(modules.list);
    modules.reused = has_reuse(modules.list);
    modules.stale = false;
  }
  const uint32_t index = modules.map.find(pc, ticks);
  const Module* module = index == ModuleMap::kNone ? nullptr : &modules.list[index];
  const CodePlace place =
      module == nullptr ? CodePlace{kNoModule, process, pc} : CodePlace{modules.ids[index], 0, pc - module->bias};
  auto found = judged_.find(place);
  if (found == judged_.end() && judged_.size() >= kMaxFunctions) {
    FunctionTraits other;
    other.lasting = !modules.reused;
    return other;
  }
  if (found == judged_.end()) found = judged_.emplace(place, judge(place, module)).first;
  FunctionTraits traits = found->second;
  traits.lasting = !modules.reused;
  traits.placed = module != nullptr;
  return traits;
}

// Tries every pattern on every name, so that unmet() covers all of them.
template <typename Patterns>
bool FunctionChooser::any(const std::string& option, const Patterns& patterns, std::span<const std::string> texts) {
  bool found = false;
  for (const auto& pattern : patterns) {
    Asked& asked = asked_.at(fmt::format(fmt::runtime(option), pattern.text()));
    const bool matches =
        std::any_of(texts.begin(), texts.end(), [&](const std::string& text) { return pattern.matches(text); });
    found |= matches;
    asked.met |= matches;
    for (const std::string& text : texts)
      if (!asked.met) asked.nearest.see(short_name(text, pattern.text()));
  }
  return found;
}

FunctionTraits FunctionChooser::judge(const CodePlace& place, const Module* module) {
  const std::string path = module == nullptr ? "" : module->path;
  std::string name, source;
  std::vector<std::string> names;
  if (module != nullptr) {
    const std::vector<SourceFrame> frames = symbols_->code({path, module->build_id}, place.address);
    if (!frames.empty()) {
      name = frames.back().function;
      source = frames.back().file;
    }
    names = symbols_->names({path, module->build_id}, place.address);
  }
  if (name.empty()) name = nameless_text(place, path);
  names.push_back(std::move(name));
  FunctionTraits traits;
  const bool only = any("-F '{}'", choice_.only, names), never = any("-N '{}'", choice_.never, names),
             of_module = any("--module '{}'", choice_.modules, {&path, 1}),
             of_source = any("--source '{}'", choice_.sources, {&source, 1});
  traits.target = any("--paths-to '{}'", choice_.targets, names);
  limit(names, traits);
  // Readers of the recording must see where a limit holds that they apply again.
  const bool is_timed = traits.min_ticks != FunctionTraits::kUnsetTicks;
  traits.chosen = (choice_.only.empty() || only || traits.target || is_timed) && !never &&
                  (choice_.modules.empty() || of_module) && (choice_.sources.empty() || of_source);
  const bool hidden = any("--hide '{}'", choice_.hidden, names), caller = any("--caller '{}'", choice_.callers, names);
  traits.hidden = any("-T '{}@notrace'", choice_.notraces, names) || hidden;
  traits.caller = any("-T '{}@filter'", choice_.filters, names) || caller;
  traits.finish = any("-T '{}@finish'", choice_.finishes, names);
  traits.on = any("-T '{}@on'", choice_.on, names);
  traits.off = any("-T '{}@off'", choice_.off, names);
  traits.snapshot = any("-T '{}@snapshot'", choice_.snapshots, names);
  return traits;
}

void FunctionChooser::limit(std::span<const std::string> names, FunctionTraits& traits) {
  for (const FunctionLimit& limit : choice_.limits) {
    const auto is_meant = [&](const std::string& name) { return limit.function.matches(name); };
    if (limit.was_recorded) {
      if (std::any_of(names.begin(), names.end(), is_meant)) traits.recorded_min_ticks = *limit.min_ticks;
      continue;
    }
    if (!any(limit_option(limit), std::span(&limit.function, 1), names)) continue;
    traits.depth = limit.depth.value_or(traits.depth);
    traits.min_ticks = limit.min_ticks.value_or(traits.min_ticks);
  }
}

std::vector<std::string> FunctionChooser::unmet() const {
  const std::lock_guard guard(mutex_);
  std::vector<std::string> options;
  for (const auto& [option, asked] : asked_) {
    if (asked.met) continue;
    options.push_back(option + asked.nearest.hint());
  }
  return options;
}

}  // namespace penna
