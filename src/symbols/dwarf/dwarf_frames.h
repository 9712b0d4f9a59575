// SPDX-License-Identifier: MIT
// DwarfFrames: the chain of inlined calls, with file and line, at an address.
//
// Why: a return address in optimised code stands for several source-level calls; all of them are shown.
// Invariant: the chain is innermost first and ends with the real function; finding it takes O(log n) once its unit and
// function have been read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tsl/robin_map.h>

#include "symbols/dwarf/dwarf_functions.h"
#include "symbols/dwarf/dwarf_units.h"

namespace penna {

struct DwarfFrame {
  const char* linkage_name = nullptr;  // mangled; null: use `name`
  std::string name;                    // qualified, without parameters; may be empty
  const char* file = nullptr;          // as the compiler wrote it; null: unknown. Equal pointers mean the same file
  const char* directory = nullptr;     // base of a relative file name; null: unknown
  uint32_t line = 0;                   // 0: unknown
  uint64_t entry = 0;                  // of the real function; 0 for inlined ones
  bool inlined = false;
};

class DwarfFrames {
 public:
  explicit DwarfFrames(std::unique_ptr<DwarfUnits> units) : units_(std::move(units)) {}

  // The frames at `address`; empty if no unit covers it. A unit without the function (line tables only) yields one
  // frame without name.
  std::vector<DwarfFrame> find(uint64_t address);
  DwarfUnits& units() { return *units_; }
  size_t unit_count() const { return units_->count(); }

 private:
  UnitFunctions& functions_of(Dwarf_Die unit);
  void name_function(Dwarf_Die die, DwarfFrame* frame);

  std::unique_ptr<DwarfUnits> units_;
  tsl::robin_map<const void*, std::unique_ptr<UnitFunctions>> functions_;  // by libdw's unit
};

}  // namespace penna
