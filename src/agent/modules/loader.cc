// SPDX-License-Identifier: MIT
// See loader.h.
#include "agent/modules/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/auxv.h>

#include "unwind/program_headers.h"

extern "C" void penna_call_enter();

namespace penna::agent {

int (*iterate_modules)(int (*)(dl_phdr_info*, size_t, void*), void*);

uintptr_t address_of(const link_map& map, const ElfW(Dyn) & entry) {
  return entry.d_un.d_ptr >= map.l_addr ? entry.d_un.d_ptr : entry.d_un.d_ptr + map.l_addr;
}

const link_map* map_of(uintptr_t address) {
  dl_find_object found;
  return _dl_find_object(reinterpret_cast<void*>(address), &found) == 0 ? found.dlfo_link_map : nullptr;
}

penna_elf_module elf_of(const dl_find_object& found) {
  static_assert(sizeof(penna_elf_segment) == sizeof(ElfW(Phdr)));
  const unwind::ProgramHeaders headers = unwind::program_headers(found);
  return {found.dlfo_link_map->l_addr, reinterpret_cast<const penna_elf_segment*>(headers.first),
          static_cast<uint32_t>(headers.count)};
}

penna_elf_module elf_of_module(uintptr_t address) {
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return {};
  return elf_of(found);
}

const link_map* our_map() { return map_of(reinterpret_cast<uintptr_t>(&penna_call_enter)); }
bool is_kernels(const link_map& map) { return map.l_addr != 0 && map.l_addr == getauxval(AT_SYSINFO_EHDR); }

bool is_ours(const link_map* map) { return map == our_map(); }

#ifdef PENNA_STANDALONE
const link_map* libc_map() { return _r_debug.r_map; }
#else
const link_map* libc_map() { return map_of(reinterpret_cast<uintptr_t>(&__errno_location)); }
#endif

// The linker's list is in the order in which modules were loaded.
bool is_behind_libc() {
  const link_map *const libc = libc_map(), *const ours = our_map();
  bool behind = false;
  for_each_module([&](const link_map& map) {
    behind = &map == libc;
    return &map != libc && &map != ours;
  });
  return behind;
}

}  // namespace penna::agent
