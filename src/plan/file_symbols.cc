// SPDX-License-Identifier: MIT
// See file_symbols.h.
#include "plan/file_symbols.h"

#include "symbols/elf/symbol_table.h"

namespace penna {

std::vector<FunctionRange> functions_in(const ElfFile& file) {
  SymbolTable table;
  for (const ElfSection& section : file.sections())
    if (section.type == SHT_SYMTAB || section.type == SHT_DYNSYM) table.add(file, section);
  table.finish(file);
  std::vector<FunctionRange> functions;
  for (const RawSymbol& symbol : table.functions())
    if (symbol.kind == SymbolKind::kFunction) functions.push_back({symbol.start, symbol.start + symbol.size});
  return functions;
}

}  // namespace penna
