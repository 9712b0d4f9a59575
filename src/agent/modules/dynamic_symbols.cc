// SPDX-License-Identifier: MIT
// See dynamic_symbols.h. The layout of a GNU hash table: one word each for the bucket count, the first symbol, the
// number of bloom words and the shift; the bloom words; the buckets; a chain of hashes, whose last has bit 0 set.
#include "agent/modules/dynamic_symbols.h"

#include <elf.h>

#include "agent/core/text.h"
#include "agent/modules/loader.h"

namespace penna::agent {
namespace {

uint32_t gnu_hash(const char* name) {
  uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<uint8_t>(*name);
  return hash;
}

uint32_t old_hash(const char* name) {
  uint32_t hash = 0;
  for (; *name != '\0'; ++name) {
    hash = (hash << 4) + static_cast<uint8_t>(*name);
    hash = (hash ^ ((hash & 0xf0000000) >> 24)) & 0x0fffffff;
  }
  return hash;
}

constexpr uint16_t kHidden = 0x8000;  // flag of a version number: not the symbol's default version

}  // namespace

DynamicSymbols::DynamicSymbols(const link_map& map) : bias_(map.l_addr) {
  for (const ElfW(Dyn)* entry = map.l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    const uintptr_t address = address_of(map, *entry);
    if (entry->d_tag == DT_SYMTAB) symbols_ = reinterpret_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_STRTAB) names_ = reinterpret_cast<const char*>(address);
    if (entry->d_tag == DT_GNU_HASH) hash_ = reinterpret_cast<const uint32_t*>(address);
    if (entry->d_tag == DT_HASH) old_hash_ = reinterpret_cast<const uint32_t*>(address);
    if (entry->d_tag == DT_VERSYM) versions_ = reinterpret_cast<const uint16_t*>(address);
    if (entry->d_tag == DT_VERDEF) defined_ = address;
    if (entry->d_tag == DT_VERNEED) needed_ = address;
  }
}

// Calls visit(index) for the symbols that may have the name, until it returns false.
template <typename Visit>
void DynamicSymbols::for_each_candidate(const char* name, Visit&& visit) const {
  if (hash_ != nullptr && hash_[0] != 0) {
    const uint32_t bucket_count = hash_[0], first = hash_[1], bloom_words = hash_[2];
    const uint32_t* buckets = hash_ + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
    const uint32_t* chain = buckets + bucket_count;
    const uint32_t wanted = gnu_hash(name);
    for (uint32_t index = buckets[wanted % bucket_count]; index >= first; ++index) {
      const uint32_t seen = chain[index - first];
      if ((seen | 1) == (wanted | 1) && !visit(index)) return;
      if ((seen & 1) != 0) return;
    }
  } else if (hash_ == nullptr && old_hash_ != nullptr && old_hash_[0] != 0) {
    const uint32_t* buckets = old_hash_ + 2;
    const uint32_t* chain = buckets + old_hash_[0];
    for (uint32_t index = buckets[old_hash(name) % old_hash_[0]]; index != 0; index = chain[index])
      if (!visit(index)) return;
  }
}

// The dynamic linker's criteria: the symbol is visible, and it is code or may be.
template <typename Visit>
void DynamicSymbols::for_each_definition(const char* name, Visit&& visit) const {
  if (symbols_ == nullptr || names_ == nullptr) return;
  const size_t bytes = text_length(name) + 1;
  for_each_candidate(name, [&](uint32_t index) {
    const ElfW(Sym)& symbol = symbols_[index];
    const auto type = ELF64_ST_TYPE(symbol.st_info), visibility = ELF64_ST_VISIBILITY(symbol.st_other);
    const bool counts = symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0 && type != STT_TLS &&
                        ELF64_ST_BIND(symbol.st_info) != STB_LOCAL && visibility != STV_HIDDEN &&
                        visibility != STV_INTERNAL && text_begins(names_ + symbol.st_name, name, bytes);
    return !counts || visit(index);
  });
}

DynamicSymbols::Found DynamicSymbols::found_at(uint32_t index) const {
  return {bias_ + symbols_[index].st_value, ELF64_ST_TYPE(symbols_[index].st_info) == STT_GNU_IFUNC};
}

uint16_t DynamicSymbols::version_number(uint32_t index) const {
  return versions_ == nullptr ? uint16_t{VER_NDX_GLOBAL} : versions_[index];
}

DynamicSymbols::Found DynamicSymbols::find(const char* name) const {
  Found found;
  for_each_definition(name, [&](uint32_t index) {
    found = found_at(index);
    return (version_number(index) & kHidden) != 0;
  });
  return found;
}

// Null: the number has no name.
const char* DynamicSymbols::version_name(uint16_t number) const {
  for (uintptr_t at = defined_; at != 0;) {
    const auto* version = reinterpret_cast<const ElfW(Verdef)*>(at);
    if (version->vd_ndx == number)
      return (version->vd_flags & VER_FLG_BASE) != 0
                 ? nullptr
                 : names_ + reinterpret_cast<const ElfW(Verdaux)*>(at + version->vd_aux)->vda_name;
    at = version->vd_next != 0 ? at + version->vd_next : 0;
  }
  for (uintptr_t at = needed_; at != 0;) {
    const auto* file = reinterpret_cast<const ElfW(Verneed)*>(at);
    for (uintptr_t aux = at + file->vn_aux; aux != 0;) {
      const auto* version = reinterpret_cast<const ElfW(Vernaux)*>(aux);
      if ((version->vna_other & ~kHidden) == number) return names_ + version->vna_name;
      aux = version->vna_next != 0 ? aux + version->vna_next : 0;
    }
    at = file->vn_next != 0 ? at + file->vn_next : 0;
  }
  return nullptr;
}

// `exact`: an unversioned definition does not count.
DynamicSymbols::Found DynamicSymbols::find_version(const char* name, const char* version, bool exact) const {
  Found found;
  for_each_definition(name, [&](uint32_t index) {
    const uint16_t number = version_number(index);
    const char* own = versions_ != nullptr ? version_name(number & ~kHidden) : nullptr;
    const bool fits = own != nullptr ? text_begins(own, version, text_length(version) + 1)
                                     : versions_ == nullptr || (!exact && (number & kHidden) == 0);
    if (fits) found = found_at(index);
    return !fits;
  });
  return found;
}

// Takes versions up to `oldest` at once; otherwise the default one, if there is just one.
DynamicSymbols::Found DynamicSymbols::find_any(const char* name, uint16_t oldest) const {
  Found found, of_defaults;
  uint32_t defaults = 0;
  for_each_definition(name, [&](uint32_t index) {
    const uint16_t number = version_number(index);
    if ((number & ~kHidden) <= oldest) return found = found_at(index), false;
    if ((number & kHidden) == 0 && defaults++ == 0) of_defaults = found_at(index);
    return true;
  });
  return found.address != 0 || defaults != 1 ? found : of_defaults;
}

DynamicSymbols::Found DynamicSymbols::find_for_call(const char* name, const char* version) const {
  constexpr uint16_t kFirstVersion = 2;
  return version != nullptr ? find_version(name, version, false) : find_any(name, kFirstVersion);
}

DynamicSymbols::Found DynamicSymbols::find_for_dlsym(const char* name, const char* version) const {
  return version != nullptr ? find_version(name, version, true) : find_any(name, VER_NDX_GLOBAL);
}

bool DynamicSymbols::imports(const char* name) const {
  if (symbols_ == nullptr || names_ == nullptr) return false;
  const uint32_t end = hash_ != nullptr ? hash_[1] : old_hash_ != nullptr ? old_hash_[1] : 0;
  for (uint32_t i = 1; i < end; ++i)
    if (symbols_[i].st_shndx == SHN_UNDEF && text_begins(names_ + symbols_[i].st_name, name, text_length(name) + 1))
      return true;
  return false;
}

uintptr_t resolved(DynamicSymbols::Found found) {
  return found.is_resolver ? reinterpret_cast<uintptr_t (*)()>(found.address)() : found.address;
}

DynamicSymbols::Found first_definition(const char* name, const link_map* behind) {
  DynamicSymbols::Found found;
  const auto look_in = [&](const link_map& map) {
    if (!is_ours(&map) && !is_kernels(map)) found = DynamicSymbols(map).find(name);
    return found.address == 0;
  };
  for_each_module(look_in, behind);
  return found;
}

void* next_definition(const char* name, const char* version) {
  DynamicSymbols::Found found;
  const auto look_in = [&](const link_map& map) {
    const DynamicSymbols symbols(map);
    if (!is_kernels(map))
      found = version != nullptr ? symbols.find_for_call(name, version) : symbols.find_for_dlsym(name, nullptr);
    return found.address == 0;
  };
  for_each_module(look_in, our_map());
  return reinterpret_cast<void*>(resolved(found));
}

}  // namespace penna::agent
