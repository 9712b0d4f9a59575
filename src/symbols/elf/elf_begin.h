// SPDX-License-Identifier: MIT
// How files come into libelf: read, never mapped (docs/decisions/0025), also those that libdw opens by itself.
//
// Why: the .dwo files of -gsplit-dwarf, and .dwp and dwz files that we did not find, are opened inside of libdw, which
// asks libelf to map them. elf_begin() of elf_begin.cc stands in front of libelf's and has them read instead.
#pragma once

#include <libelf.h>

namespace penna {

// Reads what is asked for when it is asked for, as long as the descriptor is open. Null: elf_errno() says why.
Elf* begin_elf(int fd);

}  // namespace penna
