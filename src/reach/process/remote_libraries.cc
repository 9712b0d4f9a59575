// SPDX-License-Identifier: MIT
// See remote_libraries.h.
#include "reach/process/remote_libraries.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/auxiliary_vector.h"

namespace penna {
namespace {

constexpr size_t kMostLibraries = 10'000, kMostHeaders = 128, kMostEntries = 512;
constexpr size_t kMostSymbols = 1 << 20, kMostNames = 64 << 20;

std::vector<Elf64_Phdr> headers_of(const RemoteMemory& memory, const RemoteLibrary& library) {
  std::vector<Elf64_Phdr> headers(std::min<size_t>(library.phdr_count, kMostHeaders));
  if (!library.phdrs || !memory.read(library.phdrs, headers)) return {};
  return headers;
}

// Finds the first segment, which begins with the ELF header, as linkers put it.
void find_headers(const RemoteMemory& memory, RemoteLibrary* library) {
  const auto header = memory.get(library->at<Elf64_Ehdr>(0));
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
  library->phdrs = library->at<Elf64_Phdr>(header->e_phoff);
  library->phdr_count = header->e_phnum;
}

template <typename Visit>
void for_each_entry(const RemoteMemory& memory, RemotePtr<Elf64_Dyn> dynamic, Visit&& visit) {
  for (size_t i = 0; dynamic && i < kMostEntries; ++i) {
    const auto entry = memory.get(dynamic + i);
    if (!entry || entry->d_tag == DT_NULL) return;
    visit(entry->d_tag, entry->d_un.d_val);
  }
}

struct GnuHash {
  uint32_t buckets, first, bloom_words, shift;
};

// No table states the number of symbols: GNU's hash table ends with the last of them.
size_t count_by_gnu_hash(const RemoteMemory& memory, RemotePtr<GnuHash> table) {
  const auto head = memory.get(table);
  if (!head || head->buckets > kMostSymbols || head->bloom_words > kMostSymbols) return 0;
  const auto buckets_at = ((table + 1).as<uint64_t>() + head->bloom_words).as<uint32_t>();
  // Each bucket has its first symbol, and chains are consecutive: the highest bucket's chain ends with the last
  // symbol of all, marked by bit 0 of its hash.
  std::vector<uint32_t> buckets(head->buckets);
  if (!memory.read(buckets_at, buckets)) return 0;
  const auto last = std::max_element(buckets.begin(), buckets.end());
  if (last == buckets.end() || *last < head->first) return head->first;
  const RemotePtr<uint32_t> chains = buckets_at + head->buckets;
  for (uint32_t i = *last; i < kMostSymbols; ++i) {
    const auto hash = memory.get(chains + (i - head->first));
    if (!hash) return 0;
    if ((*hash & 1) != 0) return size_t{i} + 1;
  }
  return 0;
}

}  // namespace

RemoteLibrary program_of(pid_t pid, const RemoteMemory& memory) {
  RemoteLibrary program;
  program.phdrs = RemotePtr<Elf64_Phdr>(auxiliary_value(pid, AT_PHDR));
  program.phdr_count = static_cast<uint32_t>(auxiliary_value(pid, AT_PHNUM));
  for (const Elf64_Phdr& header : headers_of(memory, program)) {
    if (header.p_type == PT_PHDR) program.bias = program.phdrs.number() - header.p_vaddr;
    if (header.p_type == PT_DYNAMIC) program.dynamic = program.at<Elf64_Dyn>(header.p_vaddr);
  }
  return program;
}

Result<std::vector<RemoteLibrary>> list_libraries(pid_t pid, const RemoteMemory& memory) {
  const RemoteLibrary program = program_of(pid, memory);
  const RemotePtr<r_debug> debug(dynamic_value(memory, program, DT_DEBUG));
  std::vector<RemoteLibrary> libraries;
  // Also fails until everything that the program needs has been relocated: the dynamic linker takes no lock before
  // that. r_debug is meant for debuggers: r_state says whether the list below is being changed right now. Read as an
  // int: what is there need not be a value of the enumeration.
  if (debug &&
      memory.get(field(debug, &r_debug::r_state).as<int32_t>()).value_or(r_debug::RT_ADD) != r_debug::RT_CONSISTENT)
    return Error{"is always loading libraries, or has only just been started; try again"};
  RemotePtr<link_map> map = debug ? memory.get_or_zero(field(debug, &r_debug::r_map)) : RemotePtr<link_map>();
  for (; map && libraries.size() < kMostLibraries; map = memory.get_or_zero(field(map, &link_map::l_next))) {
    RemoteLibrary library;
    library.map = map;
    library.bias = memory.get_or_zero(field(map, &link_map::l_addr));
    library.dynamic = memory.get_or_zero(field(map, &link_map::l_ld));
    library.name = memory.text(memory.get_or_zero(field(map, &link_map::l_name)));
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
  RemotePtr<Elf64_Sym> symbols;
  RemotePtr<GnuHash> hash;
  RemotePtr<uint32_t> old_hash;
  RemoteBytes names;
  uint64_t name_bytes = 0;
  // glibc relocates these entries in place; other linkers (and the vDSO) leave them as in the file.
  const auto address = [&](uint64_t value) { return RemotePtr<>(value < library.bias ? value + library.bias : value); };
  for_each_entry(memory, library.dynamic, [&](int64_t tag, uint64_t value) {
    switch (tag) {
      case DT_SYMTAB: symbols = address(value).as<Elf64_Sym>(); break;
      case DT_STRTAB: names = address(value).as<uint8_t>(); break;
      case DT_STRSZ: name_bytes = value; break;
      case DT_GNU_HASH: hash = address(value).as<GnuHash>(); break;
      case DT_HASH: old_hash = address(value).as<uint32_t>(); break;
      default: break;
    }
  });
  size_t count = hash ? count_by_gnu_hash(memory, hash) : 0;
  if (count == 0 && old_hash) count = memory.get_or_zero(old_hash + 1);  // nbucket, nchain
  if (count > kMostSymbols || name_bytes > kMostNames) return;
  symbols_.resize(count);
  if (!memory.read(symbols, symbols_)) symbols_.clear();
  names_ = memory.part(names, name_bytes);
}

RemotePtr<> RemoteSymbols::find_any(std::string_view name) const {
  for (const Elf64_Sym& symbol : symbols_) {
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names_.size()) continue;
    const std::string_view own(names_.c_str() + symbol.st_name);
    if (own == name) return RemotePtr<>(bias_ + symbol.st_value);
  }
  return {};
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
      code.push_back(
          {library.at<const uint8_t>(header.p_vaddr), library.at<const uint8_t>(header.p_vaddr + header.p_memsz)});
  return code;
}

std::optional<RemoteTls> tls_of(const RemoteMemory& memory, const RemoteLibrary& library) {
  for (const Elf64_Phdr& header : headers_of(memory, library))
    if (header.p_type == PT_TLS) return RemoteTls{library.at<uint8_t>(header.p_vaddr), header.p_filesz};
  return {};
}

}  // namespace penna
