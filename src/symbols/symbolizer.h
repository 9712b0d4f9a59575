// SPDX-License-Identifier: MIT
// Symbolizer: names for the addresses of a whole recording; one SymbolFile per module, all answers cached.
//
// Why: a recording holds few distinct addresses many times: each is resolved once, then found in one hash look-up.
// Invariant: a module that cannot be opened yields empty answers and a sentence in status(), never a wrong name.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tsl/robin_map.h>

#include "symbols/symbol_file.h"

namespace penna {

// Thread-compatible: one thread at a time. References and string_views live as long as the Symbolizer.
class Symbolizer {
 public:
  using ModuleId = uint32_t;

  explicit Symbolizer(SymbolOptions options = {}) : options_(std::move(options)) {}

  // The number of a module; the same path and build ID yield the same number. Opens nothing yet.
  ModuleId add(const ModuleFile& module);

  // Like SymbolFile::frames, cached: a repeated look-up costs one hash look-up. `address` is an ELF virtual address.
  const std::vector<FrameName>& frames(ModuleId module, uint64_t address, bool call_site);
  std::optional<Symbol> find(ModuleId module, uint64_t address);
  std::vector<std::string> names(ModuleId module, uint64_t start);  // like SymbolFile::names
  std::optional<AddressRange> find_unnamed(ModuleId module, uint64_t address);
  std::optional<ObjectName> find_object(ModuleId module, uint64_t address);

  std::vector<std::string> enums_of_point(ModuleId module, uint64_t slot, std::span<const PointValueName> values);
  bool is_entry(ModuleId module, uint64_t address);

  // What is known about the module, for health: opens it if it is not open yet.
  const ModuleStatus& status(ModuleId module);
  bool is_there(ModuleId module) { return open(module).symbols != nullptr; }
  const ModuleFile& file(ModuleId module) const { return modules_[module].file; }
  size_t module_count() const { return modules_.size(); }

 private:
  struct Module {
    ModuleFile file;
    bool opened = false;
    std::unique_ptr<SymbolFile> symbols;  // null after opening: see failure
    ModuleStatus failure;
    tsl::robin_map<uint64_t, uint32_t> by_address;  // -> index in answers
    std::deque<std::vector<FrameName>> answers;
  };
  Module& open(ModuleId id);

  SymbolOptions options_;
  std::deque<Module> modules_;
  tsl::robin_map<std::string, ModuleId> ids_;
};

}  // namespace penna
