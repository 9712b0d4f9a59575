// SPDX-License-Identifier: MIT
// The dynamic linker's list of modules, while other threads load and unload some.
//
// Why: the list is read here, and code in modules is written, by threads that are unrelated to the one that unloads a
// module.
// Invariant: a module stays mapped as long as it is looked at.
#pragma once

#include <link.h>
#include <stdint.h>

#include "penna/detail/elf_module.h"

namespace penna::agent {

// The linker's own dl_iterate_phdr, which locks its list. Null during start-up, until real.cc has found it.
extern int (*iterate_modules)(int (*visit)(dl_phdr_info* module, size_t bytes, void* argument), void* argument);

// Calls work(); meanwhile no module is mapped or unmapped, and the list at _r_debug.r_map does not change. `work` must
// not call the linker (dlsym and dlopen wait for a thread that waits for this one). Not in signal handlers.
template <typename Work>
void hold_modules(Work&& work) {
  if (iterate_modules == nullptr) return work();
  iterate_modules(
      [](dl_phdr_info*, size_t, void* argument) {
        (*static_cast<Work*>(argument))();
        return 1;  // all work is done at the first module
      },
      &work);
}

// Calls visit(const link_map&) for each module in the linker's order, or those after `behind`, until it returns false.
// Only while modules are held, or while no other thread exists that could change the list.
template <typename Visit>
void walk_modules(Visit&& visit, const link_map* behind = nullptr) {
  const link_map* map = behind != nullptr ? behind->l_next : _r_debug.r_map;
  while (map != nullptr && visit(*map)) map = map->l_next;
}
// The same, and holds the modules.
template <typename Visit>
void for_each_module(Visit&& visit, const link_map* behind = nullptr) {
  hold_modules([&] { walk_modules(visit, behind); });
}

// The address in an entry of the module's dynamic section. The dynamic linker has relocated it, except in the vDSO,
// which it does not write to.
uintptr_t address_of(const link_map& map, const ElfW(Dyn) & entry);

// The module that contains an address; null: none.
const link_map* map_of(uintptr_t address);
// The program headers of the module that contains the address, or that was found; empty if there is no module, or they
// are not where loaders map them.
penna_elf_module elf_of_module(uintptr_t address);
penna_elf_module elf_of(const dl_find_object& found);
// The vDSO: not a library, and no names are looked up in it.
bool is_kernels(const link_map& map);
// This library, and a test for it.
const link_map* our_map();
bool is_ours(const link_map* map);
// libc, whose functions come after the agent's.
const link_map* libc_map();
// Whether this library was loaded after libc, into a process that was running.
bool is_behind_libc();

}  // namespace penna::agent
