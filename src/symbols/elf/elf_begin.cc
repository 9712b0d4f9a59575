// SPDX-License-Identifier: MIT
// See elf_begin.h.
#include "symbols/elf/elf_begin.h"

#include <dlfcn.h>

#include "base/file_copy.h"

// libelf's own elf_begin(), if linked in under this name (tools/package); else null.
extern "C" [[gnu::weak]] Elf* libelf_elf_begin(int fd, Elf_Cmd command, Elf* from);

namespace {

using ElfBegin = Elf* (*)(int, Elf_Cmd, Elf*);

Elf* libelf_begin(int fd, Elf_Cmd command, Elf* from) {
  static const auto kBegin = libelf_elf_begin != nullptr ? ElfBegin{libelf_elf_begin}
                                                         : reinterpret_cast<ElfBegin>(::dlsym(RTLD_NEXT, "elf_begin"));
  return kBegin != nullptr ? kBegin(fd, command, from) : nullptr;
}

}  // namespace

// libdw's calls come here. The whole file is read at once: libdw would read nearly all of it, and then close it.
extern "C" [[gnu::visibility("default")]] Elf* elf_begin(int fd, Elf_Cmd command, Elf* from) {
  if (fd < 0 || from != nullptr || (command != ELF_C_READ_MMAP && command != ELF_C_READ_MMAP_PRIVATE))
    return libelf_begin(fd, command, from);
  const auto version = penna::FileVersion::of(fd);
  Elf* const elf = libelf_begin(fd, ELF_C_READ, nullptr);
  if (elf != nullptr && ::elf_cntl(elf, ELF_C_FDREAD) == 0 && version.is_current(fd)) return elf;
  ::elf_end(elf);
  return nullptr;
}

namespace penna {

Elf* begin_elf(int fd) { return libelf_begin(fd, ELF_C_READ, nullptr); }

}  // namespace penna
