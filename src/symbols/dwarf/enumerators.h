// SPDX-License-Identifier: MIT
// The enumerators of an enum, in the form used to describe a value (penna_site_info): "e:RED=0,GREEN=1".
// Invariant: at most about 1,000 bytes; "..." marks what is left out.
#pragma once

#include <string>

#include "symbols/dwarf/dwarf_types.h"

namespace penna {

std::string enumerators_of(TypeReader& reader, const DwarfType& type);

}  // namespace penna
