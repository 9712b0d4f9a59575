// SPDX-License-Identifier: MIT
// See allocator_functions.h.
#include "plan/allocator_functions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "plan/file_symbols.h"
#include "plan/instruction.h"

namespace penna {
namespace {

// The starts of those of `names` that are defined.
std::map<std::string, uint64_t> find_starts(const ElfFile& file, const std::set<std::string>& names) {
  std::map<std::string, uint64_t> found;
  for_each_symbol(file, [&](std::string_view name, const GElf_Sym& symbol, bool /*is_dynamic*/) {
    if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC) return;
    if (const auto known = names.find(std::string(name)); known != names.end())
      found.try_emplace(*known, symbol.st_value);
  });
  return found;
}

// The allocator that a name is native to; empty: none, it is a name of C or C++.
std::string_view native_to(std::string_view name) {
  constexpr std::string_view kJemalloc[] = {"mallocx",  "rallocx", "xallocx",         "dallocx",
                                            "sdallocx", "mallctl", "mallctlnametomib"};
  for (const std::string_view prefix : {"mi_", "tc_", "je_", "_rjem_"})
    if (name.starts_with(prefix)) return prefix;
  return std::find(std::begin(kJemalloc), std::end(kJemalloc), name) != std::end(kJemalloc) ? "jemalloc" : "";
}

// Leaves out what is not an allocator: operators and functions of C if there is no malloc; functions with native names
// if there are none that return blocks, or none that take them back.
void keep_allocators(std::map<std::string, uint64_t>& found, bool needs_malloc) {
  std::set<std::string_view> givers, takers;
  for (const auto& [name, start] : found)
    if (!only_controls(name)) (takes_blocks(name) ? takers : givers).insert(native_to(name));
  const bool has_malloc = !needs_malloc || found.count("malloc") != 0;
  std::erase_if(found, [&](const auto& one) {
    const std::string_view allocator = native_to(one.first);
    return allocator.empty() ? !has_malloc : givers.count(allocator) == 0 || takers.count(allocator) == 0;
  });
}

// The target of a pointer that the dynamic linker fills with the address of a function of the file; 0: it is another
// pointer.
uint64_t linked_target(const ElfFile& file, uint64_t slot) {
  for (const ElfSection& section : file.sections()) {
    Elf_Data* data = section.type == SHT_RELA && section.allocated() ? file.data(section) : nullptr;
    const ElfSection* table = file.section_of_type(SHT_DYNSYM);
    Elf_Data* symbols = data != nullptr && table != nullptr ? file.data(*table) : nullptr;
    GElf_Rela relocation;
    for (int i = 0; symbols != nullptr && gelf_getrela(data, i, &relocation) != nullptr; ++i) {
      const auto type = GELF_R_TYPE(relocation.r_info);
      if (relocation.r_offset != slot || (type != kJumpSlot && type != kGlobDat)) continue;
      GElf_Sym symbol;
      if (gelf_getsym(symbols, static_cast<int>(GELF_R_SYM(relocation.r_info)), &symbol) == nullptr) return 0;
      return symbol.st_shndx == SHN_UNDEF ? 0 : symbol.st_value;
    }
  }
  return 0;
}

// Decodes from the function's beginning: no branches except jumps, directly or through the linkage table, up to the
// first that leads to one of `starts`.
// Few instructions, and no conditional branch: the path is the same whatever the arguments are.
uint64_t end_of_the_way(const ElfFile& file, uint64_t start, const std::set<uint64_t>& starts) {
  // Also ends loops.
  constexpr int kMostInstructions = 16;
  Instruction one;
  uint64_t at = start;
  for (int i = 0; i < kMostInstructions; ++i) {
    if (!decode(file.bytes_at(at, kLongestInstruction), at, &one)) return 0;
    if (one.kind == Instruction::kCall || one.kind == Instruction::kReturn || one.kind == Instruction::kInterrupt ||
        one.kind == Instruction::kBreakpoint || one.kind == Instruction::kConditional)
      return 0;
    if (one.kind != Instruction::kJump) {
      at += one.length;
      continue;
    }
    if (one.target)
      at = *one.target;
    else
      at = one.refers_nearby ? linked_target(file, *one.refers) : 0;
    if (starts.count(at) != 0) return at;
  }
  return 0;
}

}  // namespace

bool takes_blocks(std::string_view name) {
  for (const std::string_view part : {"free", "dalloc", "delete"})
    if (name.find(part) != name.npos) return true;
  return false;
}

bool only_controls(std::string_view name) {
  for (const std::string_view part : {"mallctl", "mi_heap_destroy", "mi_register_"})
    if (name.find(part) != name.npos) return true;
  return false;
}

AllocatorFunctions find_named(const ElfFile& file, const std::set<std::string>& names) {
  AllocatorFunctions functions;
  for (const auto& [name, start] : find_starts(file, names)) functions[name].start = start;
  return functions;
}

AllocatorFunctions find_allocator(const ElfFile& file, const std::set<std::string>& names,
                                  const std::function<const DetourFinder&()>& finder) {
  std::map<std::string, uint64_t> found = find_starts(file, names);
  // Most files end here, before any of their code is looked at.
  keep_allocators(found, names.count("malloc") != 0);
  AllocatorFunctions functions;
  if (found.empty()) return functions;
  std::vector<uint64_t> starts;
  starts.reserve(found.size());
  for (const auto& [name, start] : found) starts.push_back(start);
  const std::vector<DetourOffer> offers = finder().find_at(starts);
  const std::set<uint64_t> all(starts.begin(), starts.end());
  size_t i = 0;
  for (const auto& [name, start] : found) {
    AllocatorFunction function{start, offers[i++]};
    if (!function.offer.site) function.continues_at = end_of_the_way(file, start, all);
    functions.emplace(name, std::move(function));
  }
  return functions;
}

}  // namespace penna
