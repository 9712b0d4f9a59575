// SPDX-License-Identifier: MIT
// SymbolTable: the functions and objects of a module by address, from its ELF symbol tables.
//
// Why: one sorted table merges .symtab, .dynsym, minidebuginfo and PLT entries, and decides once which of its names a
// function is shown by.
// Invariant: names point into ELF files that outlive the table; after finish() there is one symbol per start address.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/elf/elf_file.h"
#include "symbols/elf/interval_map.h"

namespace penna {

enum class SymbolKind : uint8_t { kFunction, kIfunc, kPlt, kLabel, kObject };  // kLabel: code symbol without a type
enum class SymbolBinding : uint8_t { kGlobal, kWeak, kLocal };

struct RawSymbol {
  uint64_t start = 0;     // ELF virtual address
  uint64_t size = 0;      // bytes; 0 only before finish()
  std::string_view name;  // as in the file: mangled, with version
  SymbolKind kind = SymbolKind::kFunction;
  SymbolBinding binding = SymbolBinding::kGlobal;
};

// True if `a` is the better of two names for the same address. What users know comes first: the default version, fewer
// leading underscores (malloc before __libc_malloc), exported before local, strong before weak, typed before untyped,
// then shorter, then alphabetical, so that the choice never depends on the file's order.
bool better_name(const RawSymbol& a, const RawSymbol& b);

class SymbolTable {
 public:
  // Adds all symbols of a SHT_SYMTAB or SHT_DYNSYM section that lie where code or data of `file` can be.
  void add(const ElfFile& file, const ElfSection& section);
  void add(const RawSymbol& symbol);
  // Sorts, picks among aliases, extends functions of size 0 up to the next one. `file` has the section bounds.
  void finish(const ElfFile& file);

  const RawSymbol* function_at(uint64_t address) const;  // null: none covers the address
  const RawSymbol* object_at(uint64_t address) const;
  // The names of a function that has several, best first; empty for all others. At most the best kMostNames.
  static constexpr size_t kMostNames = 64;
  std::span<const RawSymbol> names_at(uint64_t start) const;
  // One per start address, by address.
  const std::vector<RawSymbol>& functions() const { return functions_; }
  const std::vector<RawSymbol>& objects() const { return objects_; }

 private:
  std::vector<RawSymbol> functions_, objects_;
  std::vector<RawSymbol> aliases_;  // all names of functions with several, by start, best first
  IntervalMap function_map_, object_map_;
};

}  // namespace penna
