// SPDX-License-Identifier: MIT
// See code_map.h.
#include "model/names/code_map.h"

#include <fmt/core.h>

namespace penna {
std::string file_name_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.empty() ? "[unknown]" : name;
}

bool is_allocator_file(const std::string& path) {
  const std::string name = file_name_of(path);
  return name.starts_with("libjemalloc") || name.starts_with("libtcmalloc") || name.starts_with("libmimalloc");
}

std::string nameless_text(const CodePlace& place, const std::string& path) {
  if (!place.known()) return fmt::format("[unknown] {:#x}", place.address);
  return fmt::format("{}+{:#x}", file_name_of(path), place.address);
}

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

FunctionId FunctionTable::intern(uint32_t process, uint64_t pc, uint64_t ticks) {
  return intern(map_.locate(process, pc, ticks));
}

FunctionId FunctionTable::intern(const CodePlace& place) {
  auto [found, added] = ids_.try_emplace(place, static_cast<FunctionId>(places_.size()));
  if (added) places_.push_back(place);
  return found->second;
}

}  // namespace penna
