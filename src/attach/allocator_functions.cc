// SPDX-License-Identifier: MIT
// See allocator_functions.h.
#include "attach/allocator_functions.h"

#include <utility>
#include <vector>

#include "symbols/symbol_table.h"

namespace penna {

std::map<std::string, DetourOffer> find_allocator(const ElfFile& file, const std::set<std::string>& names) {
  std::map<std::string, uint64_t> found;
  SymbolTable table;
  for (const ElfSection& section : file.sections()) {
    if (section.type != SHT_SYMTAB && section.type != SHT_DYNSYM) continue;
    Elf_Data* data = file.data(section);
    GElf_Sym symbol;
    for (int i = 0; data != nullptr && gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      if (symbol.st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
      const char* name = file.string(section.link, symbol.st_name);
      if (name != nullptr && names.count(name) != 0) found.try_emplace(name, symbol.st_value);
    }
  }
  std::map<std::string, DetourOffer> functions;
  if (found.empty() || (names.count("malloc") != 0 && found.count("malloc") == 0)) return functions;
  for (const ElfSection& section : file.sections())
    if (section.type == SHT_SYMTAB || section.type == SHT_DYNSYM) table.add(file, section);
  table.finish(file);
  std::vector<FunctionRange> all;
  for (const RawSymbol& symbol : table.functions())
    if (symbol.kind == SymbolKind::kFunction) all.push_back({symbol.start, symbol.start + symbol.size});
  const DetourFinder finder(file, std::move(all));
  for (const auto& [name, start] : found) functions.emplace(name, finder.find_at(start));
  return functions;
}

}  // namespace penna
