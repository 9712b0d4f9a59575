// SPDX-License-Identifier: MIT
// Where exceptions land in the code of a file: by its tables of call sites (.gcc_except_table), which .eh_frame leads
// to.
//
// Why: no branch leads there, and yet execution goes on there. Layout: LSB 5.0, 10.6 (.eh_frame); Itanium C++ ABI,
// exception handling.
// Invariant: all of them, or nothing: what uses an encoding that no compiler writes is not guessed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "symbols/elf/elf_file.h"

namespace penna {

// ELF virtual addresses, sorted. Nothing: they cannot be told. Empty: there are none, as in most code of C.
std::optional<std::vector<uint64_t>> find_landing_pads(const ElfFile& file);

}  // namespace penna
