// SPDX-License-Identifier: MIT
// See symbolizer.h.
#include "symbols/symbolizer.h"

namespace penna {

Symbolizer::ModuleId Symbolizer::add(const ModuleFile& module) {
  std::string key = module.path;
  key.push_back('\0');  // no path contains one
  key.append(module.build_id.begin(), module.build_id.end());
  auto [entry, added] = ids_.try_emplace(std::move(key));
  if (added) {
    entry.value() = static_cast<ModuleId>(modules_.size());
    modules_.emplace_back().file = module;
  }
  return entry->second;
}

Symbolizer::Module& Symbolizer::open(ModuleId id) {
  Module& module = modules_[id];
  if (module.opened) return module;
  module.opened = true;
  auto symbols = SymbolFile::open(module.file, options_);
  if (symbols) {
    module.symbols = std::move(*symbols);
  } else {
    module.failure.advice = symbols.error().text;
  }
  return module;
}

const std::vector<FrameName>& Symbolizer::frames(ModuleId id, uint64_t address, bool call_site) {
  if (call_site) --address;
  Module& module = modules_[id];
  auto found = module.by_address.find(address);
  if (found != module.by_address.end()) return module.answers[found->second];
  open(id);
  module.by_address[address] = static_cast<uint32_t>(module.answers.size());
  return module.answers.emplace_back(module.symbols ? module.symbols->frames(address, false)
                                                    : std::vector<FrameName>());
}

std::optional<Symbol> Symbolizer::find(ModuleId id, uint64_t address) {
  Module& module = open(id);
  return module.symbols ? module.symbols->find(address) : std::nullopt;
}

std::vector<std::string> Symbolizer::names(ModuleId id, uint64_t start) {
  Module& module = open(id);
  return module.symbols ? module.symbols->names(start) : std::vector<std::string>{};
}

std::optional<AddressRange> Symbolizer::find_unnamed(ModuleId id, uint64_t address) {
  Module& module = open(id);
  return module.symbols ? module.symbols->find_unnamed(address) : std::nullopt;
}

std::optional<ObjectName> Symbolizer::find_object(ModuleId id, uint64_t address) {
  Module& module = open(id);
  return module.symbols ? module.symbols->find_object(address) : std::nullopt;
}

std::vector<std::string> Symbolizer::enums_of_point(ModuleId id, uint64_t slot,
                                                    std::span<const PointValueName> values) {
  Module& module = open(id);
  return module.symbols ? module.symbols->enums_of_point(slot, values) : std::vector<std::string>{};
}

bool Symbolizer::is_entry(ModuleId id, uint64_t address) {
  Module& module = open(id);
  return module.symbols && module.symbols->is_entry(address);
}

const ModuleStatus& Symbolizer::status(ModuleId id) {
  Module& module = open(id);
  return module.symbols ? module.symbols->status() : module.failure;
}

}  // namespace penna
