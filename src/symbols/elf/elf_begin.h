// SPDX-License-Identifier: MIT
// How files get into libelf: read, never mapped (docs/decisions/0025), including those that libdw opens by itself.
//
// Why: the .dwo files of -gsplit-dwarf, and .dwp and dwz files that Penna did not find, are opened inside libdw, which
// asks libelf to map them. The elf_begin() in elf_begin.cc interposes libelf's and has them read instead.
#pragma once

#include <libelf.h>

namespace penna {

// Reads on demand, as long as the descriptor is open. Null: elf_errno() says why.
Elf* begin_elf(int fd);

}  // namespace penna
