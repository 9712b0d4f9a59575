// SPDX-License-Identifier: MIT
// PLT entries as symbols: the stub that jumps through the GOT slot of `malloc` is "malloc@plt".
//
// Why: the linker gives these stubs no symbols, and calls through them are what a profile of a stripped program shows.
// Invariant: an entry is named only if its own instruction and a relocation agree on the GOT slot.
#pragma once

#include "symbols/elf/symbol_table.h"

namespace penna {

// Adds the PLT entries of `file` to `table` (x86-64 and AArch64; nothing on others). Call before table->finish(), after
// the module's own symbols: they name the resolvers of IRELATIVE slots.
void add_plt_symbols(const ElfFile& file, SymbolTable* table);

}  // namespace penna
