// SPDX-License-Identifier: MIT
// The symbols of a file, as planners look at them: one by one, by name, or as the functions that they describe.
//
// Why separate from SymbolFile: only the file itself counts, no debug file. What is planned goes into code that is
// mapped from this very file.
// Invariant: names point into the file; a symbol in both of its tables is visited twice.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "plan/detour.h"
#include "symbols/elf/elf_file.h"

namespace penna {

// The symbols of .symtab and .dynsym that the file defines. visit(name, symbol, whether it is in .dynsym)
template <typename Visit>
void for_each_symbol(const ElfFile& file, Visit&& visit) {
  for (const ElfSection& section : file.sections()) {
    Elf_Data* data = section.type == SHT_SYMTAB || section.type == SHT_DYNSYM ? file.data(section) : nullptr;
    GElf_Sym symbol;
    for (int i = 0; data != nullptr && gelf_getsym(data, i, &symbol) != nullptr; ++i)
      if (const char* name = symbol.st_shndx != SHN_UNDEF ? file.string(section.link, symbol.st_name) : nullptr)
        visit(std::string_view(name), std::as_const(symbol), section.type == SHT_DYNSYM);
  }
}

// The functions that these describe, by start; aliases count once.
std::vector<FunctionRange> functions_in(const ElfFile& file);

}  // namespace penna
