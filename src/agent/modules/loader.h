// SPDX-License-Identifier: MIT
// The dynamic linker's modules, while other threads open and close them.
//
// Why: its list is read here, and code in its modules is written, by threads that have nothing to do with whoever
// unloads one.
// Invariant: what is looked at stays mapped as long as it is looked at.
#pragma once

#include <link.h>
#include <stdint.h>

#include "penna/detail/elf_module.h"

namespace penna::agent {

// The linker's own dl_iterate_phdr, which holds its list. Null at start-up: that is being looked up just now (real.cc).
extern int (*iterate_modules)(int (*visit)(dl_phdr_info* module, size_t bytes, void* argument), void* argument);

// Calls work(); meanwhile no module is mapped or unmapped, and the list beginning at _r_debug.r_map does not change.
// `work` asks the linker for nothing (dlsym and dlopen wait for whoever waits for us). Not in signal handlers.
template <typename Work>
void hold_modules(Work&& work) {
  if (iterate_modules == nullptr) return work();
  iterate_modules(
      [](dl_phdr_info*, size_t, void* argument) {
        (*static_cast<Work*>(argument))();
        return 1;  // all is done at the first
      },
      &work);
}

// Calls visit(const link_map&) for each module in the linker's order, or those behind `behind`, until it returns false.
// While modules are held, or nobody else is there to change the list.
template <typename Visit>
void walk_modules(Visit&& visit, const link_map* behind = nullptr) {
  const link_map* map = behind != nullptr ? behind->l_next : _r_debug.r_map;
  while (map != nullptr && visit(*map)) map = map->l_next;
}
// The same, and holds them.
template <typename Visit>
void for_each_module(Visit&& visit, const link_map* behind = nullptr) {
  hold_modules([&] { walk_modules(visit, behind); });
}

// Where an entry of the module's dynamic section points to: relocated by the dynamic linker, but in the kernel's
// module, which it does not write to.
uintptr_t address_of(const link_map& map, const ElfW(Dyn) & entry);

// The module that holds an address; null: none does.
const link_map* map_of(uintptr_t address);
// The program headers of the module that holds the address, or that was found; none when there is no module, or they
// are not where loaders put them.
penna_elf_module elf_of_module(uintptr_t address);
penna_elf_module elf_of(const dl_find_object& found);
// Not a library: the kernel's, which no name is looked up in.
bool is_kernels(const link_map& map);
// This library, and is it that?
const link_map* our_map();
bool is_ours(const link_map* map);

}  // namespace penna::agent
