// SPDX-License-Identifier: MIT
// See remote_libraries.h.
#include "reach/process/remote_libraries.h"

#include <elf.h>
#include <fmt/core.h>
#include <link.h>

#include <algorithm>
#include <cstring>

#include "base/auxiliary_vector.h"

namespace penna {
namespace {

constexpr size_t kMostLibraries = 10'000, kMostHeaders = 128, kMostEntries = 512;
constexpr size_t kMostSymbols = 1 << 20, kMostNames = 64 << 20;

std::vector<Elf64_Phdr> headers_of(const RemoteMemory& memory, const RemoteLibrary& library) {
  std::vector<Elf64_Phdr> headers(std::min<size_t>(library.phdr_count, kMostHeaders));
  if (library.phdrs == 0 || !memory.read(library.phdrs, headers.data(), headers.size() * sizeof headers[0])) return {};
  return headers;
}

// Finds the first segment, which begins with the ELF header, as linkers put it.
void find_headers(const RemoteMemory& memory, RemoteLibrary* library) {
  const auto header = memory.get<Elf64_Ehdr>(library->bias);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
  library->phdrs = library->bias + header->e_phoff;
  library->phdr_count = header->e_phnum;
}

template <typename Visit>
void for_each_entry(const RemoteMemory& memory, uint64_t dynamic, Visit&& visit) {
  for (size_t i = 0; dynamic != 0 && i < kMostEntries; ++i) {
    const auto entry = memory.get<Elf64_Dyn>(dynamic + i * sizeof(Elf64_Dyn));
    if (!entry || entry->d_tag == DT_NULL) return;
    visit(entry->d_tag, entry->d_un.d_val);
  }
}

// No table states the number of symbols: GNU's hash table ends with the last of them.
size_t count_by_gnu_hash(const RemoteMemory& memory, uint64_t table) {
  struct Head {
    uint32_t buckets, first, bloom_words, shift;
  };
  const auto head = memory.get<Head>(table);
  if (!head || head->buckets > kMostSymbols || head->bloom_words > kMostSymbols) return 0;
  const uint64_t buckets_at = table + sizeof(Head) + uint64_t{head->bloom_words} * 8;
  // Each bucket has its first symbol, and chains are consecutive: the highest bucket's chain ends with the last
  // symbol of all, marked by bit 0 of its hash.
  std::vector<uint32_t> buckets(head->buckets);
  if (!memory.read(buckets_at, buckets.data(), buckets.size() * 4)) return 0;
  const auto last = std::max_element(buckets.begin(), buckets.end());
  if (last == buckets.end() || *last < head->first) return head->first;
  const uint64_t chains = buckets_at + uint64_t{head->buckets} * 4;
  for (uint32_t i = *last; i < kMostSymbols; ++i) {
    const auto hash = memory.get<uint32_t>(chains + uint64_t{i - head->first} * 4);
    if (!hash) return 0;
    if ((*hash & 1) != 0) return size_t{i} + 1;
  }
  return 0;
}

}  // namespace

RemoteLibrary program_of(pid_t pid, const RemoteMemory& memory) {
  RemoteLibrary program;
  program.phdrs = auxiliary_value(pid, AT_PHDR);
  program.phdr_count = static_cast<uint32_t>(auxiliary_value(pid, AT_PHNUM));
  for (const Elf64_Phdr& header : headers_of(memory, program)) {
    if (header.p_type == PT_PHDR) program.bias = program.phdrs - header.p_vaddr;
    if (header.p_type == PT_DYNAMIC) program.dynamic = program.bias + header.p_vaddr;
  }
  return program;
}

Result<std::vector<RemoteLibrary>> list_libraries(pid_t pid, const RemoteMemory& memory) {
  const RemoteLibrary program = program_of(pid, memory);
  const uint64_t debug = dynamic_value(memory, program, DT_DEBUG);
  std::vector<RemoteLibrary> libraries;
  // Also fails until everything that the program needs has been relocated: the dynamic linker takes no lock before
  // that. r_debug is meant for debuggers: r_state says whether the list below is being changed right now.
  if (debug != 0 &&
      memory.get<int32_t>(debug + offsetof(r_debug, r_state)).value_or(r_debug::RT_ADD) != r_debug::RT_CONSISTENT)
    return Error{"is always loading libraries, or has only just been started; try again"};
  uint64_t map = debug != 0 ? memory.word(debug + offsetof(r_debug, r_map)) : 0;
  for (; map != 0 && libraries.size() < kMostLibraries; map = memory.word(map + offsetof(link_map, l_next))) {
    RemoteLibrary library;
    library.map = map;
    library.bias = memory.word(map + offsetof(link_map, l_addr));
    library.dynamic = memory.word(map + offsetof(link_map, l_ld));
    library.name = memory.text(memory.word(map + offsetof(link_map, l_name)));
    if (libraries.empty())
      library.phdrs = program.phdrs, library.phdr_count = program.phdr_count;
    else
      find_headers(memory, &library);
    libraries.push_back(std::move(library));
  }
  if (libraries.empty()) return Error{"has no dynamic linker, or has only just been started; try again"};
  return libraries;
}

RemoteSymbols::RemoteSymbols(const RemoteMemory& memory, const RemoteLibrary& library) : bias_(library.bias) {
  static_assert(sizeof(Symbol) == sizeof(Elf64_Sym));
  uint64_t symbols = 0, names = 0, name_bytes = 0, hash = 0, old_hash = 0;
  // glibc relocates these entries in place; other linkers (and the vDSO) leave them as in the file.
  const auto address = [&](uint64_t value) { return value < library.bias ? value + library.bias : value; };
  for_each_entry(memory, library.dynamic, [&](int64_t tag, uint64_t value) {
    switch (tag) {
      case DT_SYMTAB: symbols = address(value); break;
      case DT_STRTAB: names = address(value); break;
      case DT_STRSZ: name_bytes = value; break;
      case DT_GNU_HASH: hash = address(value); break;
      case DT_HASH: old_hash = address(value); break;
      default: break;
    }
  });
  size_t count = hash != 0 ? count_by_gnu_hash(memory, hash) : 0;
  if (count == 0 && old_hash != 0) count = memory.get<uint32_t>(old_hash + 4).value_or(0);
  if (count > kMostSymbols || name_bytes > kMostNames) return;
  symbols_.resize(count);
  if (!memory.read(symbols, symbols_.data(), count * sizeof(Symbol))) symbols_.clear();
  names_ = memory.part(names, name_bytes);
}

uint64_t RemoteSymbols::find(std::string_view name) const {
  for (const Symbol& symbol : symbols_) {
    if (symbol.section == SHN_UNDEF || symbol.name >= names_.size()) continue;
    const std::string_view own(names_.c_str() + symbol.name);
    if (own == name) return bias_ + symbol.value;
  }
  return 0;
}

uint64_t dynamic_value(const RemoteMemory& memory, const RemoteLibrary& library, int64_t tag) {
  uint64_t found = 0;
  for_each_entry(memory, library.dynamic, [&](int64_t one, uint64_t value) {
    if (one == tag) found = value;
  });
  return found;
}

std::vector<RemoteRange> code_of(const RemoteMemory& memory, const RemoteLibrary& library) {
  std::vector<RemoteRange> code;
  for (const Elf64_Phdr& header : headers_of(memory, library))
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0)
      code.push_back({library.bias + header.p_vaddr, library.bias + header.p_vaddr + header.p_memsz});
  return code;
}

std::optional<RemoteTls> tls_of(const RemoteMemory& memory, const RemoteLibrary& library) {
  for (const Elf64_Phdr& header : headers_of(memory, library))
    if (header.p_type == PT_TLS) return RemoteTls{library.bias + header.p_vaddr, header.p_filesz};
  return {};
}

}  // namespace penna
