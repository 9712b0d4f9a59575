// SPDX-License-Identifier: MIT
// See code_map.h.
#include "model/code_map.h"

#include <algorithm>

namespace penna {
namespace {

// Whether some address belongs to two different mappings at different times.
bool has_reuse(std::span<const Module> modules) {
  std::vector<const Module*> sorted;
  for (const Module& module : modules)
    if (module.start < module.end) sorted.push_back(&module);
  std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->start < b->start; });
  const Module* widest = nullptr;  // of those so far, the one that reaches furthest
  for (const Module* module : sorted) {
    const bool same = widest != nullptr && module->bias == widest->bias && module->path == widest->path &&
                      module->build_id == widest->build_id;
    if (widest != nullptr && module->start < widest->end && !same) return true;
    if (widest == nullptr || module->end > widest->end) widest = module;
  }
  return false;
}

}  // namespace

CodeMap::CodeMap(const Recording& recording) : recording_(recording) {
  tsl::robin_map<std::string, ModuleId> known;  // path, zero byte, build-id
  for (const RecordedProcess& process : recording.processes()) {
    auto& ids = ids_.emplace_back();
    for (const Module& module : process.modules) {
      std::string key = module.path + '\0';
      key.append(module.build_id.begin(), module.build_id.end());
      auto [found, added] = known.try_emplace(std::move(key), static_cast<ModuleId>(modules_.size()));
      if (added) modules_.push_back(&module);
      ids.push_back(found->second);
    }
    reused_.push_back(has_reuse(process.modules));
  }
}

CodePlace CodeMap::place(uint32_t process, uint32_t module_index, uint64_t pc) const {
  if (module_index == ModuleMap::kNone) return {kNoModule, process, pc};
  return {ids_[process][module_index], 0, pc - recording_.processes()[process].modules[module_index].bias};
}

CodePlace CodeMap::locate(uint32_t process, uint64_t pc, uint64_t ticks) const {
  return place(process, recording_.module_map(process).find(pc, ticks), pc);
}

CodePlace CodeMap::locate_return(uint32_t process, uint64_t pc, uint16_t generation) const {
  const uint64_t call = pc - 1;
  return place(process, recording_.module_map(process).find_generation(call, generation), call);
}

std::string CodeMap::file_name(ModuleId id) const {
  const std::string& full = path(id);
  const std::string name = full.substr(full.rfind('/') + 1);
  return name.empty() ? "[unknown]" : name;
}

FunctionId FunctionTable::intern(uint32_t process, uint64_t pc, uint64_t ticks) {
  const CodePlace place = map_.locate(process, pc, ticks);
  auto [found, added] = ids_.try_emplace(place, static_cast<FunctionId>(places_.size()));
  if (added) places_.push_back(place);
  return found->second;
}

}  // namespace penna
