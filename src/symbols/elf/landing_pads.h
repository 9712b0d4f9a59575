// SPDX-License-Identifier: MIT
// Where exceptions land in a file's code: from its call site tables (.gcc_except_table), which .eh_frame refers to.
//
// Why: no branch goes there, and yet execution continues there. Layout: LSB 5.0, 10.6 (.eh_frame); Itanium C++ ABI,
// exception handling.
// Invariant: all of them, or nothing: encodings that no compiler writes are not guessed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "symbols/elf/elf_file.h"

namespace penna {

// ELF virtual addresses, sorted. Nothing: unknown. Empty: there are none, as in most C code.
std::optional<std::vector<uint64_t>> find_landing_pads(const ElfFile& file);

}  // namespace penna
