// SPDX-License-Identifier: MIT
// See program_headers.h.
#include "unwind/program_headers.h"

#include <sys/auxv.h>

namespace penna::unwind {

ProgramHeaders program_headers_at(uintptr_t start) {
  constexpr size_t kPage = 4096;
  if (!is_elf(start)) return {};
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(start);
  const size_t bytes = header->e_phnum * sizeof(ElfW(Phdr));
  if (header->e_phentsize != sizeof(ElfW(Phdr)) || header->e_phoff > kPage || bytes > kPage - header->e_phoff)
    return {};
  return {reinterpret_cast<const ElfW(Phdr)*>(start + header->e_phoff), header->e_phnum};
}

ProgramHeaders program_headers(const dl_find_object& module) {
  const link_map* const map = module.dlfo_link_map;
  const auto start = reinterpret_cast<uintptr_t>(module.dlfo_map_start);
  if (map == nullptr || start == 0) return {};
  if (is_elf(start)) return program_headers_at(start);
  if (map->l_addr == 0)
    return {reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR)), static_cast<size_t>(getauxval(AT_PHNUM))};
  dl_find_object first;
  if (_dl_find_object(reinterpret_cast<void*>(map->l_addr), &first) != 0 || first.dlfo_link_map != map) return {};
  return program_headers_at(map->l_addr);
}

}  // namespace penna::unwind
