// SPDX-License-Identifier: MIT
// DwarfUnits: the compile units of a file by address.
//
// Why: libdw finds a unit through .debug_aranges, which clang does not write; without it every look-up would walk all
// units. Here the ranges of all units are read once (DWARF 5, 3.1.1: DW_AT_ranges or low_pc/high_pc).
// Invariant: only ranges where the module has code are kept, so functions that the linker dropped (their addresses read
// 0, 1 or -1) never claim an address.
#pragma once

#include <elfutils/libdw.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/elf/elf_file.h"
#include "symbols/elf/interval_map.h"

namespace penna {

// Reads the address ranges of a DIE that lie within `code`; calls take(begin, end) for each. At most kMaxRanges.
template <typename Take>
void each_code_range(Dwarf_Die* die, const std::vector<AddressRange>& code, Take&& take) {
  constexpr int kMaxRanges = 1 << 20;
  Dwarf_Addr base = 0, begin = 0, end = 0;
  ptrdiff_t offset = 0;
  for (int i = 0; i < kMaxRanges; ++i) {
    offset = ::dwarf_ranges(die, offset, &base, &begin, &end);
    if (offset <= 0) return;
    if (begin != 0 && begin < end && range_of(code, begin) != nullptr) take(begin, end);
  }
}

// Whether the file itself has DWARF.
bool has_dwarf(const ElfFile& file);

// "/build/static" and "../Python/ceval.c" are "/build/Python/ceval.c". (With a symbolic link before the ".." this is
// another directory; such builds are rarer than readers of long paths.)
std::string source_path(std::string_view directory, std::string_view file);

class DwarfUnits {
 public:
  // Opens the DWARF of `file` (and `alt`, its dwz file, if it refers to one). Both must outlive this object; `code` is
  // that of the module. Null if there is none or it is damaged.
  static std::unique_ptr<DwarfUnits> open(const ElfFile& file, const ElfFile* alt,
                                          const std::vector<AddressRange>& code);

  // The unit at the address: its DIE with lines and addresses, and the one with the functions (which differs only with
  // split DWARF, -gsplit-dwarf, whose .dwo file is opened when first needed). Null: none.
  struct Unit {
    Dwarf_Die die;
    Dwarf_Die functions;
    bool split_looked_up;
  };
  Unit* find(uint64_t address);
  // take(die) for each unit with descriptions of its own: not those of split DWARF.
  template <typename Take>
  void for_each(Take&& take) {
    for (const Unit& unit : units_) take(unit.die);
  }

  const std::vector<AddressRange>& code() const { return code_; }
  size_t count() const { return units_.size(); }

 private:
  struct EndDwarf {
    void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
  };
  explicit DwarfUnits(std::vector<AddressRange> code) : code_(std::move(code)) {}
  void read_units();
  void add_aranges(const std::vector<uint32_t>& without_ranges);

  std::vector<AddressRange> code_;
  std::unique_ptr<Dwarf, EndDwarf> alt_;
  std::unique_ptr<Dwarf, EndDwarf> dwarf_;
  std::vector<Unit> units_;
  IntervalMap by_address_;
};

}  // namespace penna
