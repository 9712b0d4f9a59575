// SPDX-License-Identifier: MIT
// See dynamic_symbols.h. The table: one word each of bucket count, first symbol in the table, bloom words, shift; the bloom words;
// the buckets; a chain of hashes, the last of each with bit 0 set.
#include "agent/dynamic_symbols.h"

#include <dlfcn.h>
#include <elf.h>

#include "agent/loader.h"
#include "agent/text.h"

extern "C" void penna_call_enter();

namespace penna::agent {
namespace {

uint32_t gnu_hash(const char* name) {
  uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<uint8_t>(*name);
  return hash;
}

}  // namespace

DynamicSymbols::DynamicSymbols(const link_map& map) : bias_(map.l_addr) {
  for (const ElfW(Dyn)* entry = map.l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    const uintptr_t address = address_of(map, *entry);
    if (entry->d_tag == DT_SYMTAB) symbols_ = reinterpret_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_STRTAB) names_ = reinterpret_cast<const char*>(address);
    if (entry->d_tag == DT_GNU_HASH) hash_ = reinterpret_cast<const uint32_t*>(address);
    if (entry->d_tag == DT_VERSYM) versions_ = reinterpret_cast<const uint16_t*>(address);
  }
}

DynamicSymbols::Found DynamicSymbols::find(const char* name) const {
  if (symbols_ == nullptr || names_ == nullptr || hash_ == nullptr || hash_[0] == 0) return {};
  const uint32_t bucket_count = hash_[0], first = hash_[1], bloom_words = hash_[2];
  const uint32_t* buckets = hash_ + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
  const uint32_t* chain = buckets + bucket_count;
  const uint32_t wanted = gnu_hash(name);
  uint32_t index = buckets[wanted % bucket_count];
  if (index < first) return {};
  constexpr uint16_t kHidden = 0x8000;  // not the default one of several versions
  Found hidden;
  for (;; ++index) {
    const uint32_t seen = chain[index - first];
    const ElfW(Sym)& symbol = symbols_[index];
    if ((seen | 1) == (wanted | 1) && symbol.st_shndx != SHN_UNDEF &&
        text_begins(names_ + symbol.st_name, name, text_length(name) + 1)) {
      const uint16_t version = versions_ == nullptr ? uint16_t{VER_NDX_GLOBAL} : versions_[index];
      const Found found{bias_ + symbol.st_value, ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC,
                        (version & ~kHidden) > VER_NDX_GLOBAL};
      if ((version & kHidden) == 0) return found;
      hidden = found;
    }
    if ((seen & 1) != 0) return hidden;
  }
}

bool DynamicSymbols::imports(const char* name) const {
  if (symbols_ == nullptr || names_ == nullptr || hash_ == nullptr) return false;
  for (uint32_t i = 1; i < hash_[1]; ++i)
    if (symbols_[i].st_shndx == SHN_UNDEF && text_begins(names_ + symbols_[i].st_name, name, text_length(name) + 1))
      return true;
  return false;
}

uintptr_t address_of(const link_map& map, const ElfW(Dyn) & entry) {
  return entry.d_un.d_ptr >= map.l_addr ? entry.d_un.d_ptr : entry.d_un.d_ptr + map.l_addr;
}

const link_map* map_of(uintptr_t address) {
  dl_find_object found;
  return _dl_find_object(reinterpret_cast<void*>(address), &found) == 0 ? found.dlfo_link_map : nullptr;
}

const link_map* our_map() { return map_of(reinterpret_cast<uintptr_t>(&penna_call_enter)); }
bool is_ours(const link_map* map) { return map == our_map(); }

DynamicSymbols::Found first_definition(const char* name, const link_map* behind) {
  DynamicSymbols::Found found;
  const auto look_in = [&](const link_map& map) {
    if (!is_ours(&map)) found = DynamicSymbols(map).find(name);
    return found.address == 0;
  };
  for_each_module(look_in, behind);
  return found;
}

}  // namespace penna::agent
