// SPDX-License-Identifier: MIT
// What a loaded module defines for others, by name: its GNU hash table, read where the dynamic linker reads it.
//
// Why not dlsym: that takes the linker's lock, and searches all modules. Of several versions the default one is taken.
// Invariant: async-signal-safe; reads only what the module's dynamic section points to.
#pragma once

#include <link.h>
#include <stdint.h>

namespace penna::agent {

class DynamicSymbols {
 public:
  explicit DynamicSymbols(const link_map& map);
  // The run-time address of what the module defines as `name`; of an ifunc, that of its resolver. 0: it does not.
  struct Found {
    uintptr_t address = 0;
    bool is_resolver = false, has_version = false;
  };
  Found find(const char* name) const;
  // Does it ask others for `name`? What it does not define comes first in its table.
  bool imports(const char* name) const;

 private:
  uintptr_t bias_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
  const uint32_t* hash_ = nullptr;
  const uint16_t* versions_ = nullptr;  // of symbols_
};

// Where an entry of the module's dynamic section points to: relocated by the dynamic linker, but in the kernel's module, which it does not
// write to.
uintptr_t address_of(const link_map& map, const ElfW(Dyn) & entry);

// The module that holds an address; null: none does.
const link_map* map_of(uintptr_t address);
// This library, and is it that?
const link_map* our_map();
bool is_ours(const link_map* map);
// The first module that defines the function, in the order of the dynamic linker, but for us; `behind`: of those behind this one.
// Not in signal handlers.
DynamicSymbols::Found first_definition(const char* name, const link_map* behind = nullptr);

}  // namespace penna::agent
