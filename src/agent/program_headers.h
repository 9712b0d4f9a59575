// SPDX-License-Identifier: MIT
// The program headers of a module, where loaders put them: in the first page, behind the ELF header.
//
// Invariant: what is given lies in that page; a module that is built otherwise has none.
#pragma once

#include <elf.h>
#include <link.h>
#include <stdint.h>

#include "agent/pages.h"

namespace penna::agent {

struct ProgramHeaders {
  const ElfW(Phdr) * first;
  uint32_t count;
  const ElfW(Phdr) * begin() const { return first; }
  const ElfW(Phdr) * end() const { return first + count; }
};

inline bool is_elf(uintptr_t at) { return __builtin_memcmp(reinterpret_cast<const void*>(at), ELFMAG, SELFMAG) == 0; }

// Of the module that is mapped there: a page that can be read.
inline ProgramHeaders program_headers(uintptr_t module_start) {
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(module_start);
  if (!is_elf(module_start) || header->e_phentsize != sizeof(ElfW(Phdr)) ||
      header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr)) > kPageBytes)
    return {nullptr, 0};
  return {reinterpret_cast<const ElfW(Phdr)*>(module_start + header->e_phoff), header->e_phnum};
}

}  // namespace penna::agent
