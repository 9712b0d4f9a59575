// SPDX-License-Identifier: MIT
// See dwarf_units.h.
#include "symbols/dwarf/dwarf_units.h"

#include <dwarf.h>
#include <tsl/robin_map.h>

#include <filesystem>

namespace penna {
namespace {

// Several units may claim the same C++ inline function: the linker kept one copy and pointed the others to it. It kept
// the first; an IntervalMap prefers large values.
uint32_t rank_of(uint32_t index) { return IntervalMap::kNone - 1 - index; }
uint32_t index_of(uint32_t rank) { return IntervalMap::kNone - 1 - rank; }

}  // namespace

bool has_dwarf(const ElfFile& file) {
  return !file.has_hollow_sections() && (file.has_contents(".debug_info") || file.has_contents(".zdebug_info"));
}

std::string source_path(std::string_view directory, std::string_view file) {
  std::string whole = file.empty() || file[0] == '/' || directory.empty()
                          ? std::string(file)
                          : std::string(directory) + "/" + std::string(file);
  return std::filesystem::path(whole).lexically_normal().string();
}

std::unique_ptr<DwarfUnits> DwarfUnits::open(const ElfFile& file, const ElfFile* alt,
                                             const std::vector<AddressRange>& code) {
  std::unique_ptr<DwarfUnits> units(new DwarfUnits(code));
  units->dwarf_.reset(::dwarf_begin_elf(file.handle(), DWARF_C_READ, nullptr));
  if (units->dwarf_ == nullptr) return nullptr;
  if (alt != nullptr) {
    units->alt_.reset(::dwarf_begin_elf(alt->handle(), DWARF_C_READ, nullptr));
    if (units->alt_ != nullptr) ::dwarf_setalt(units->dwarf_.get(), units->alt_.get());
  }
  units->read_units();
  return units;
}

void DwarfUnits::read_units() {
  std::vector<uint32_t> without_ranges;
  Dwarf_CU* cu = nullptr;
  Dwarf_Die die;
  uint8_t type = 0;
  while (::dwarf_get_units(dwarf_.get(), cu, &cu, nullptr, &type, &die, nullptr) == 0) {
    // Partial and type units have no code; split ones are reached through their skeletons.
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    auto index = static_cast<uint32_t>(units_.size());
    bool ranged = false;
    each_code_range(&die, code_, [&](uint64_t begin, uint64_t end) {
      by_address_.add(begin, end, rank_of(index));
      ranged = true;
    });
    if (!ranged && !::dwarf_hasattr(&die, DW_AT_ranges)) without_ranges.push_back(index);
    // Until its split unit is requested, a skeleton's functions are looked for in the skeleton itself.
    units_.push_back({die, die, false});
  }
  if (!without_ranges.empty()) add_aranges(without_ranges);
  by_address_.finish();
}

// Units without their own ranges may still be listed in .debug_aranges.
void DwarfUnits::add_aranges(const std::vector<uint32_t>& without_ranges) {
  Dwarf_Aranges* table = nullptr;
  size_t count = 0;
  if (::dwarf_getaranges(dwarf_.get(), &table, &count) != 0) return;
  tsl::robin_map<Dwarf_Off, uint32_t> wanted;
  for (uint32_t index : without_ranges) wanted[::dwarf_dieoffset(&units_[index].die)] = index;
  for (size_t i = 0; i < count; ++i) {
    Dwarf_Arange* range = ::dwarf_onearange(table, i);
    Dwarf_Addr begin = 0;
    Dwarf_Word length = 0;
    Dwarf_Off offset = 0;
    if (range == nullptr || ::dwarf_getarangeinfo(range, &begin, &length, &offset) != 0) continue;
    auto unit = wanted.find(offset);
    // As in each_code_range(): dropped code is at 0, or where the file has none.
    if (unit == wanted.end() || begin == 0 || range_of(code_, begin) == nullptr) continue;
    by_address_.add(begin, begin + length, rank_of(unit->second));
  }
}

DwarfUnits::Unit* DwarfUnits::find(uint64_t address) {
  uint32_t rank = by_address_.find(address);
  if (rank == IntervalMap::kNone) return nullptr;
  Unit& unit = units_[index_of(rank)];
  if (!unit.split_looked_up) {
    // Once, even if there is none: libdw opens a .dwo file for it.
    unit.split_looked_up = true;
    Dwarf_Half version = 0;
    uint8_t type = 0;
    Dwarf_Die split;
    if (::dwarf_cu_info(unit.die.cu, &version, &type, nullptr, &split, nullptr, nullptr, nullptr) == 0 &&
        type == DW_UT_skeleton && split.addr != nullptr) {
      unit.functions = split;
    }
  }
  return &unit;
}

}  // namespace penna
