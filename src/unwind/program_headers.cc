// SPDX-License-Identifier: MIT
// See program_headers.h.
#include "unwind/program_headers.h"

#include <sys/auxv.h>

#include "unwind/arch.h"

namespace penna::unwind {
namespace {

constexpr size_t kPage = 4096;

// Whether one of them is a loaded segment with `bytes` from `offset` of the file on, and these lie at `at`.
bool are_loaded(const ProgramHeaders& headers, uintptr_t start, uint64_t offset, size_t bytes, uintptr_t at) {
  for (const ElfW(Phdr) & first : headers) {
    if (first.p_type != PT_LOAD || first.p_offset != 0) continue;
    for (const ElfW(Phdr) & one : headers)
      if (one.p_type == PT_LOAD && (one.p_flags & PF_R) != 0 && offset >= one.p_offset && bytes <= one.p_filesz &&
          offset - one.p_offset <= one.p_filesz - bytes)
        return start - first.p_vaddr + one.p_vaddr + (offset - one.p_offset) == at;
  }
  return false;
}

// At the same distance from the beginning in memory as in the file: they are not looked for elsewhere.
ProgramHeaders moved_headers(uintptr_t start, const ElfW(Ehdr) & header, size_t bytes) {
  const uintptr_t at = start + header.e_phoff;
  if (at < start || at % alignof(ElfW(Phdr)) != 0 || bytes == 0 || bytes > kPage) return {};
  if (!raw_probe(at) || !raw_probe(at + bytes - sizeof(uint64_t))) return {};
  const ProgramHeaders headers{reinterpret_cast<const ElfW(Phdr)*>(at), header.e_phnum};
  return are_loaded(headers, start, header.e_phoff, bytes, at) ? headers : ProgramHeaders{};
}

}  // namespace

ProgramHeaders program_headers_at(uintptr_t start) {
  if (!is_elf(start)) return {};
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(start);
  const size_t bytes = header->e_phnum * sizeof(ElfW(Phdr));
  if (header->e_phentsize != sizeof(ElfW(Phdr))) return {};
  if (header->e_phoff > kPage || bytes > kPage - header->e_phoff) return moved_headers(start, *header, bytes);
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
