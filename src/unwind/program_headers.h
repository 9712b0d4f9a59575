// SPDX-License-Identifier: MIT
// The program headers of a loaded module, where linkers put them: in the page that its first segment begins with,
// behind the ELF header. Tools that add segments to a finished file (BOLT, patchelf) move them into one of these: there
// they are read if they can be, and say themselves that it is their place.
//
// Why not only there: a module with holes between its segments is found by segment (_dl_find_object), so that what is
// found may begin elsewhere. Then the header is where the module's addresses count from; that of a program at a fixed
// address the kernel tells.
// Invariant: what is given can be read; a module that is built otherwise has none. Thread- and signal-safe.
#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>

namespace penna::unwind {

struct ProgramHeaders {
  const ElfW(Phdr) * first = nullptr;
  size_t count = 0;
  const ElfW(Phdr) * begin() const { return first; }
  const ElfW(Phdr) * end() const { return first + count; }
};

inline bool is_elf(uintptr_t at) { return __builtin_memcmp(reinterpret_cast<const void*>(at), ELFMAG, SELFMAG) == 0; }

// Of what is mapped at `start`: a page that can be read.
ProgramHeaders program_headers_at(uintptr_t start);

// Of the whole module, of which `module` may be one segment.
ProgramHeaders program_headers(const dl_find_object& module);

}  // namespace penna::unwind
