// SPDX-License-Identifier: MIT
// UnitFunctions: the functions of one compile unit by address, what was inlined into each, and the scopes around names.
//
// Why: libdw answers these questions by walking the unit's whole tree for every address, recursively. Here a unit is
// walked once, when first needed, and a function's inlined calls once, when the function is first needed.
// Invariant: no recursion, and after the first look-up none reads the DIEs of other functions.
#pragma once

#include <elfutils/libdw.h>

#include <string>
#include <vector>

#include "symbols/elf/elf_file.h"
#include "symbols/elf/interval_map.h"

namespace penna {

class UnitFunctions {
 public:
  struct Inlined {
    Dwarf_Die die;    // DW_TAG_inlined_subroutine
    uint32_t parent;  // index of the inlined call around it, or IntervalMap::kNone
  };
  struct Function {
    Dwarf_Die die;
    uint64_t entry;  // its lowest address
    bool inlines_read = false;
    std::vector<Inlined> inlines;  // outer before inner
    IntervalMap inline_map;        // address -> innermost index in `inlines`
  };

  // Walks the unit. `unit` is the DIE of a compile or partial unit.
  UnitFunctions(Dwarf_Die unit, const std::vector<AddressRange>& code);

  // The function at the address, with its inlined calls read; null: none.
  Function* find(uint64_t address);
  // "ns::Class::" for the DIE of a function (a declaration or abstract instance) at this offset; empty at top level.
  std::string scope_of(Dwarf_Off function) const;

 private:
  struct Scope {
    Dwarf_Die die;
    uint32_t parent;
  };
  struct Scoped {
    Dwarf_Off function;
    uint32_t scope;
  };
  struct Level {
    Dwarf_Die die;
    uint32_t scope;
  };
  void walk(Dwarf_Die unit);
  void add_function(Dwarf_Die* die, uint32_t scope);
  void read_inlines(Function* function);

  std::vector<AddressRange> code_;
  bool nests_functions_ = true;
  std::vector<Function> functions_;
  IntervalMap by_address_;
  std::vector<Scope> scopes_;
  std::vector<Scoped> scoped_;  // by rising offset, the order of the walk
};

}  // namespace penna
