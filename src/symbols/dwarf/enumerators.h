// SPDX-License-Identifier: MIT
// The enumerators of an enum, as the description of a value has them (penna_site_info): "e:RED=0,GREEN=1".
// Invariant: at most some 1,000 bytes; what is left out is marked by "...".
#pragma once

#include <string>

#include "symbols/dwarf/dwarf_types.h"

namespace penna {

std::string enumerators_of(TypeReader& reader, const DwarfType& type);

}  // namespace penna
