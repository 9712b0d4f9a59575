// SPDX-License-Identifier: MIT
// The program headers of a loaded module, where linkers put them: in the page that its first segment begins with, after
// the ELF header. Tools that add segments to a finished file (BOLT, patchelf) move them into one of these: there they
// are used if they can be read, and themselves confirm that place.
//
// Why not only there: a module with holes between its segments is found by segment (_dl_find_object), so what is found
// may begin elsewhere. Then the header is at the module's load address; for a program at a fixed address the kernel
// reports it.
// Invariant: the headers that are returned can be read; a module that is built differently has none. Thread- and
// signal-safe.
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

// Of the file that is mapped at `start`, in a page that can be read.
ProgramHeaders program_headers_at(uintptr_t start);

// Of the whole module, of which `module` may be one segment.
ProgramHeaders program_headers(const dl_find_object& module);

}  // namespace penna::unwind
