// SPDX-License-Identifier: MIT
// The points that penna/point.h left in a binary, read from its file: names, argument types, source lines.
//
// Why not only SDT notes: those have the sizes of arguments, not their names. Invariant: the file is untrusted; what
// cannot be read is left out, and nothing outside its sections is accessed.
#pragma once

#include <vector>

#include "recording/types.h"
#include "symbols/elf/elf_file.h"

namespace penna {

// One for each copy in the machine code; Site::address is the ELF address of the slot. Empty: the binary has none.
std::vector<Site> read_point_sites(const ElfFile& file);

}  // namespace penna
