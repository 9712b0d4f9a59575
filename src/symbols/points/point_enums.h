// SPDX-License-Identifier: MIT
// Which values of a point are enums: from the variables that its macro holds them in (penna/detail/args_c.h,
// args_cxx.h).
//
// Why there: a point only says that an enum is a number; what the compiler knew is in the DWARF of the block around the
// point's slot. Invariant: an answer is about the values of exactly this point, or there is none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "symbols/dwarf/dwarf_units.h"

namespace penna {

struct PointValueName {
  std::string name;  // "order.number" for a field
  bool is_number = false;
};

// For each value its enumerators, as in a penna_site_info ("e:RED=0,GREEN=1"), or nothing. `slot`: an ELF virtual
// address.
std::vector<std::string> enums_of_point(DwarfUnits& units, uint64_t slot, std::span<const PointValueName> values);

}  // namespace penna
