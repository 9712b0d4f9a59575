// SPDX-License-Identifier: MIT
// See plt.h.
//
//   x86-64, .plt          ff 25 disp32   jmp *slot(%rip)   68 n   push n   e9 …   jmp .plt[0]
//   x86-64 with IBT, .plt f3 0f 1e fa    endbr64           68 n   push n   [f2] e9 … jmp .plt[0]
//             and .plt.sec f3 0f 1e fa   endbr64      [f2] ff 25 disp32    jmp *slot(%rip)
//   AArch64, .plt         adrp x16, page(slot);  ldr x17, [x16, offset];  add x16, …;  br x17
#include "symbols/elf/plt.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <cstring>

namespace penna {
namespace {

// Each one is a search through the table; glibc has about 40.
constexpr size_t kMaxResolvers = 200;

struct Slots {
  tsl::robin_map<uint64_t, std::string_view> by_address;  // GOT slot -> symbol name
  std::vector<std::string_view> by_number;                // in the order of .rela.plt: what "push n" indexes
};

uint32_t load32(std::span<const uint8_t> bytes, size_t at) {
  uint32_t value = 0;
  if (at + 4 <= bytes.size()) std::memcpy(&value, bytes.data() + at, 4);
  return value;
}

bool is_irelative(int machine, uint64_t type) {
  return machine == EM_X86_64 ? type == R_X86_64_IRELATIVE : machine == EM_AARCH64 && type == R_AARCH64_IRELATIVE;
}

std::string_view dynamic_symbol_name(const ElfFile& file, const ElfSection& symbols, uint64_t index) {
  Elf_Data* data = file.data(symbols);
  GElf_Sym symbol;
  if (data == nullptr || index == 0 || index > INT32_MAX) return {};
  if (::gelf_getsym(data, static_cast<int>(index), &symbol) == nullptr) return {};
  const char* name = file.string(symbols.link, symbol.st_name);
  return name == nullptr ? std::string_view() : std::string_view(name);
}

// IRELATIVE slots hold the result of a resolver in this module: they are named after the resolver.
std::string_view resolver_name(const SymbolTable& table, uint64_t address) {
  const RawSymbol* best = nullptr;
  for (const RawSymbol& symbol : table.functions()) {
    if (symbol.start == address && (best == nullptr || better_name(symbol, *best))) best = &symbol;
  }
  return best == nullptr ? std::string_view() : best->name;
}

Slots read_slots(const ElfFile& file, const SymbolTable& table) {
  Slots slots;
  for (const ElfSection& section : file.sections()) {
    if (section.type != SHT_RELA || !section.allocated()) continue;
    bool is_plt = section.name == ".rela.plt";
    auto symbols = std::find_if(file.sections().begin(), file.sections().end(),
                                [&](const ElfSection& s) { return s.index == section.link; });
    Elf_Data* data = file.data(section);
    if (data == nullptr || data->d_type != ELF_T_RELA) continue;
    GElf_Rela entry;
    size_t resolvers = 0;
    for (int i = 0; ::gelf_getrela(data, i, &entry) != nullptr; ++i) {
      std::string_view name;
      if (GELF_R_SYM(entry.r_info) != 0 && symbols != file.sections().end()) {
        name = dynamic_symbol_name(file, *symbols, GELF_R_SYM(entry.r_info));
      } else if (is_irelative(file.header().e_machine, GELF_R_TYPE(entry.r_info)) && ++resolvers <= kMaxResolvers) {
        name = resolver_name(table, static_cast<uint64_t>(entry.r_addend));
      }
      if (is_plt) slots.by_number.push_back(name);
      if (!name.empty()) slots.by_address.try_emplace(entry.r_offset, name);
    }
  }
  return slots;
}

std::string_view x86_entry_name(const Slots& slots, std::span<const uint8_t> entry, uint64_t address) {
  for (size_t i = 0; i + 6 <= entry.size(); ++i) {
    if (entry[i] != 0xff || entry[i + 1] != 0x25) continue;
    auto slot =
        slots.by_address.find(address + i + 6 + static_cast<uint64_t>(static_cast<int32_t>(load32(entry, i + 2))));
    return slot == slots.by_address.end() ? std::string_view() : slot->second;
  }
  // After an endbr64, if there is one.
  size_t push = entry.size() > 9 && load32(entry, 0) == 0xfa1e0ff3 ? 4 : 0;
  if (entry.size() >= push + 5 && entry[push] == 0x68) {
    uint32_t number = load32(entry, push + 1);
    if (number < slots.by_number.size()) return slots.by_number[number];
  }
  return {};
}

std::string_view arm64_entry_name(const Slots& slots, std::span<const uint8_t> entry, uint64_t address) {
  for (size_t i = 0; i + 8 <= entry.size(); i += 4) {
    uint32_t adrp = load32(entry, i), ldr = load32(entry, i + 4);
    // adrp x16 and ldr x17, [x16, #imm]: all bits except the operands'. imm counts 8-byte words.
    if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211) continue;
    uint64_t pages = ((adrp >> 29) & 3) | ((adrp >> 3) & 0x1ffffc);
    if ((pages & 0x100000) != 0) pages |= ~uint64_t{0x1fffff};  // 21 bits, signed
    uint64_t slot = ((address + i) & ~uint64_t{0xfff}) + (pages << 12) + ((ldr >> 10) & 0xfff) * 8;
    auto found = slots.by_address.find(slot);
    return found == slots.by_address.end() ? std::string_view() : found->second;
  }
  return {};
}

}  // namespace

void add_plt_symbols(const ElfFile& file, SymbolTable* table) {
  int machine = file.header().e_machine;
  if (machine != EM_X86_64 && machine != EM_AARCH64) return;
  Slots slots = read_slots(file, *table);
  if (slots.by_address.empty()) return;
  for (const ElfSection& section : file.sections()) {
    if (section.name.substr(0, 4) != ".plt" || !section.executable() || section.range().end == 0) continue;
    // Older linkers leave the entry size unset, or use that of the header of AArch64's .plt.
    size_t step = section.entry_size == 8 || section.entry_size == 24 ? section.entry_size : 16;
    std::span<const uint8_t> bytes = file.raw(section);
    for (size_t at = 0; at + step <= bytes.size(); at += step) {
      auto entry = bytes.subspan(at, step);
      uint64_t address = section.address + at;
      std::string_view name =
          machine == EM_X86_64 ? x86_entry_name(slots, entry, address) : arm64_entry_name(slots, entry, address);
      if (!name.empty()) table->add({address, step, name, SymbolKind::kPlt, SymbolBinding::kLocal});
    }
  }
}

}  // namespace penna
