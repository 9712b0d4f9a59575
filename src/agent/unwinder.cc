// SPDX-License-Identifier: MIT
// See unwinder.h.
#include "agent/unwinder.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <type_traits>

#include "agent/text.h"

namespace penna::agent {
namespace {

// What of a module's dynamic section a look-up by name needs: the GNU hash table (its layout: one word each of bucket count, first
// symbol in the table, bloom words, shift; the bloom words; the buckets; a chain of hashes, the last of each with bit 0 set).
struct DynamicSymbols {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const uint32_t* hash = nullptr;

  explicit DynamicSymbols(const link_map& map) {
    for (const ElfW(Dyn)* entry = map.l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      const uintptr_t address = entry->d_un.d_ptr;  // relocated by the dynamic linker
      if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(address);
      if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(address);
      if (entry->d_tag == DT_GNU_HASH) hash = reinterpret_cast<const uint32_t*>(address);
    }
  }
  const ElfW(Sym) * find(const char* name) const;
};

uint32_t gnu_hash(const char* name) {
  uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<uint8_t>(*name);
  return hash;
}

const ElfW(Sym) * DynamicSymbols::find(const char* name) const {
  if (symbols == nullptr || names == nullptr || hash == nullptr || hash[0] == 0) return nullptr;
  const uint32_t bucket_count = hash[0], first = hash[1], bloom_words = hash[2];
  const uint32_t* buckets = hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / 4);
  const uint32_t* chain = buckets + bucket_count;
  const uint32_t wanted = gnu_hash(name);
  uint32_t index = buckets[wanted % bucket_count];
  if (index < first) return nullptr;
  for (;; ++index) {
    const uint32_t seen = chain[index - first];
    if ((seen | 1) == (wanted | 1) && text_begins(names + symbols[index].st_name, name, text_length(name) + 1) &&
        symbols[index].st_shndx != 0)
      return symbols + index;
    if ((seen & 1) != 0) return nullptr;
  }
}

}  // namespace

bool find_unwinder(uintptr_t caller, Unwinder* found) {
  dl_find_object module;
  if (_dl_find_object(reinterpret_cast<void*>(caller), &module) != 0) return false;
  const DynamicSymbols symbols(*module.dlfo_link_map);
  const auto find = [&](const char* name, auto* function) {
    const ElfW(Sym)* symbol = symbols.find(name);
    if (symbol == nullptr) return false;
    *function =
        reinterpret_cast<std::remove_pointer_t<decltype(function)>>(module.dlfo_link_map->l_addr + symbol->st_value);
    return true;
  };
  return find("_Unwind_GetIP", &found->get_ip) && find("_Unwind_SetIP", &found->set_ip) &&
         find("_Unwind_SetGR", &found->set_register) && find("_Unwind_Resume", &found->resume);
}

}  // namespace penna::agent
