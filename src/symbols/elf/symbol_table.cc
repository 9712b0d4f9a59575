// SPDX-License-Identifier: MIT
// See symbol_table.h.
#include "symbols/elf/symbol_table.h"

#include <algorithm>
#include <tuple>

namespace penna {
namespace {

SymbolBinding binding_of(const GElf_Sym& symbol) {
  switch (GELF_ST_BIND(symbol.st_info)) {
    case STB_LOCAL: return SymbolBinding::kLocal;
    case STB_WEAK: return SymbolBinding::kWeak;
    default: return SymbolBinding::kGlobal;
  }
}

// Assembler leftovers: local labels, and the markers for code and data in ARM and RISC-V files.
bool is_marker(std::string_view name) { return name.empty() || name[0] == '$' || name.substr(0, 2) == ".L"; }

int version_rank(std::string_view name) {
  size_t at = name.find('@');
  return at == std::string_view::npos || name.substr(at, 2) == "@@" ? 0 : 1;
}

// The different names at one address. .symtab and .dynsym have the same ones, with or without a version.
void append_names(std::span<const RawSymbol> same, std::vector<RawSymbol>* to) {
  const size_t before = to->size();
  const auto is_there = [&](std::string_view name) {
    return std::any_of(to->begin() + static_cast<std::ptrdiff_t>(before), to->end(), [&](const RawSymbol& one) {
      return one.name == name || one.name.substr(0, one.name.find('@')) == name;
    });
  };
  for (const RawSymbol& symbol : same)
    if (symbol.kind != SymbolKind::kPlt && to->size() - before < SymbolTable::kMostNames && !is_there(symbol.name))
      to->push_back(symbol);
  if (to->size() - before < 2) to->resize(before);
}

// One symbol per start address: the best name, with the largest size among the aliases. `names`: collects all names of
// those with several; may be null.
void merge_aliases(std::vector<RawSymbol>* symbols, std::vector<RawSymbol>* names) {
  std::sort(symbols->begin(), symbols->end(), [](const RawSymbol& a, const RawSymbol& b) {
    return a.start != b.start ? a.start < b.start : better_name(a, b);
  });
  for (size_t i = 0, end; names != nullptr && i < symbols->size(); i = end) {
    for (end = i + 1; end < symbols->size() && (*symbols)[end].start == (*symbols)[i].start;) ++end;
    if (end != i + 1) append_names(std::span(*symbols).subspan(i, end - i), names);
  }
  size_t kept = 0;
  for (size_t i = 0; i < symbols->size(); ++i) {
    RawSymbol& symbol = (*symbols)[i];
    if (kept != 0 && (*symbols)[kept - 1].start == symbol.start) {
      (*symbols)[kept - 1].size = std::max((*symbols)[kept - 1].size, symbol.size);
    } else {
      (*symbols)[kept++] = symbol;
    }
  }
  symbols->resize(kept);
  symbols->shrink_to_fit();
}

// The latest possible end of what starts at `address`.
uint64_t limit_of(const std::vector<AddressRange>& ranges, uint64_t address) {
  const AddressRange* range = range_of(ranges, address);
  return range == nullptr ? address : range->end;
}

uint64_t end_within(const RawSymbol& symbol, uint64_t limit) {
  return symbol.size > limit - symbol.start ? limit : symbol.start + symbol.size;
}

// Drops labels inside functions and extends symbols of size 0 up to the next one. In address order.
void settle_functions(std::vector<RawSymbol>* symbols, const ElfFile& file) {
  size_t kept = 0;
  uint64_t typed_end = 0;  // of the typed functions so far: a label before it is inside one
  for (size_t i = 0; i < symbols->size(); ++i) {
    RawSymbol symbol = (*symbols)[i];
    uint64_t limit = limit_of(file.code_ranges(), symbol.start);
    if (symbol.start >= limit) continue;
    bool vague = symbol.size == 0 || symbol.kind == SymbolKind::kLabel;
    if (vague && symbol.start < typed_end) continue;
    if (kept != 0 && (*symbols)[kept - 1].size == 0) {
      (*symbols)[kept - 1].size = symbol.start - (*symbols)[kept - 1].start;
    }
    if (symbol.size != 0) symbol.size = end_within(symbol, limit) - symbol.start;
    if (!vague) typed_end = std::max(typed_end, symbol.start + symbol.size);
    (*symbols)[kept++] = symbol;
  }
  symbols->resize(kept);
  for (RawSymbol& symbol : *symbols) {  // the last one of each section
    uint64_t limit = limit_of(file.code_ranges(), symbol.start);
    symbol.size = (symbol.size == 0 ? limit : end_within(symbol, limit)) - symbol.start;
  }
}

}  // namespace

bool better_name(const RawSymbol& a, const RawSymbol& b) {
  auto key = [](const RawSymbol& s) {
    size_t underscores = std::min(s.name.find_first_not_of('_'), s.name.size());
    if (s.name.substr(0, 2) == "_Z") underscores = 0;
    return std::make_tuple(version_rank(s.name), s.binding == SymbolBinding::kLocal, underscores,
                           s.kind == SymbolKind::kLabel, s.binding, s.name.size(), s.name);
  };
  return key(a) < key(b);
}

void SymbolTable::add(const RawSymbol& symbol) {
  (symbol.kind == SymbolKind::kObject ? objects_ : functions_).push_back(symbol);
}

void SymbolTable::add(const ElfFile& file, const ElfSection& section) {
  Elf_Data* data = file.data(section);
  if (data == nullptr || data->d_type != ELF_T_SYM) return;
  size_t entry = ::gelf_fsize(file.handle(), ELF_T_SYM, 1, EV_CURRENT);
  if (entry == 0) return;
  size_t count = data->d_size / entry;
  for (size_t i = 1; i < count; ++i) {
    GElf_Sym symbol;
    if (::gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || symbol.st_shndx == SHN_COMMON) continue;
    int type = GELF_ST_TYPE(symbol.st_info);
    uint64_t start = symbol.st_value;
    if (file.header().e_machine == EM_ARM && type != STT_OBJECT) start &= ~uint64_t{1};  // the bit that says Thumb
    SymbolKind kind;
    if (type == STT_OBJECT) {
      if (range_of(file.load_ranges(), start) == nullptr) continue;
      kind = SymbolKind::kObject;
    } else if (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) {
      if (range_of(file.code_ranges(), start) == nullptr) continue;
      kind = type == STT_FUNC ? SymbolKind::kFunction : type == STT_NOTYPE ? SymbolKind::kLabel : SymbolKind::kIfunc;
    } else {
      continue;
    }
    const char* name = file.string(section.link, symbol.st_name);
    if (name == nullptr || is_marker(name)) continue;
    add({start, symbol.st_size, name, kind, binding_of(symbol)});
  }
}

void SymbolTable::finish(const ElfFile& file) {
  merge_aliases(&functions_, &aliases_);
  settle_functions(&functions_, file);
  for (size_t i = 0; i < functions_.size(); ++i) {
    function_map_.add(functions_[i].start, functions_[i].start + functions_[i].size, static_cast<uint32_t>(i));
  }
  function_map_.finish();
  merge_aliases(&objects_, nullptr);
  for (size_t i = 0; i < objects_.size(); ++i) {
    uint64_t end = end_within(objects_[i], limit_of(file.load_ranges(), objects_[i].start));
    object_map_.add(objects_[i].start, end, static_cast<uint32_t>(i));
  }
  object_map_.finish();
}

const RawSymbol* SymbolTable::function_at(uint64_t address) const {
  uint32_t index = function_map_.find(address);
  return index == IntervalMap::kNone ? nullptr : &functions_[index];
}

std::span<const RawSymbol> SymbolTable::names_at(uint64_t start) const {
  RawSymbol wanted;
  wanted.start = start;
  const auto [first, last] = std::equal_range(aliases_.begin(), aliases_.end(), wanted,
                                              [](const RawSymbol& a, const RawSymbol& b) { return a.start < b.start; });
  return {first, last};
}

const RawSymbol* SymbolTable::object_at(uint64_t address) const {
  uint32_t index = object_map_.find(address);
  return index == IntervalMap::kNone ? nullptr : &objects_[index];
}

}  // namespace penna
