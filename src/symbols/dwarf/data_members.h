// SPDX-License-Identifier: MIT
// DataMembers: what lies at an offset inside a variable: ".queue.mutex", "[3].lock", from DWARF.
//
// Why: a lock is known by its address; `io_threads_mutex+40` is for a debugger, `io_threads_mutex[1]` for a person. It
// descends through arrays and members until it is inside library internals: reserved names (_M_mutex, __data) say
// nothing to a user.
// Invariant: in a hostile file, at most kMostEntries entries are looked at, once, and a path has at most kMostSteps
// steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "symbols/dwarf/dwarf_units.h"

namespace penna {

class DataMembers {
 public:
  static constexpr uint32_t kMostEntries = 4'000'000;  // take a second; variables after them are not described
  static constexpr int kMostSteps = 16;

  explicit DataMembers(DwarfUnits& units) : units_(units) {}

  // The suffix to the name of the variable that begins at `start`; empty: not described, or not part of the variable.
  std::string path(uint64_t start, uint64_t offset);

 private:
  struct Variable {
    uint64_t address;
    Dwarf_Die die;
  };
  void read_variables();
  void read_children(Dwarf_Die parent, int depth);

  DwarfUnits& units_;
  bool is_read_ = false;
  uint32_t budget_ = kMostEntries;
  std::vector<Variable> variables_;  // by address
};

}  // namespace penna
