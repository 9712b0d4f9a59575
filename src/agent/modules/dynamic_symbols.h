// SPDX-License-Identifier: MIT
// The symbols that a loaded module defines for others: looked up in its hash table, GNU's or System V's, where the
// dynamic linker reads it.
//
// Why not dlsym: it takes the linker's lock, may allocate from the target's heap, which may be in use at this moment,
// and overwrites the program's dlerror() state.
// Invariant: async-signal-safe; reads only what the module's dynamic section points to.
#pragma once

#include <link.h>
#include <stdint.h>

namespace penna::agent {

class DynamicSymbols {
 public:
  explicit DynamicSymbols(const link_map& map);
  // The run-time address of the module's definition of `name`; for an ifunc, that of its resolver. 0: there is none.
  struct Found {
    uintptr_t address = 0;
    bool is_resolver = false;
  };
  // The default version if there are several, or another one if none is the default.
  Found find(const char* name) const;
  // What the dynamic linker binds a call of `name` with this version to; null: an unversioned call. An unversioned
  // definition matches every version.
  Found find_for_call(const char* name, const char* version) const;
  // What dlsym finds, and dlvsym, which insists on this version.
  Found find_for_dlsym(const char* name, const char* version) const;
  // Whether it imports `name`. Symbols that it does not define come first in its table.
  bool imports(const char* name) const;

 private:
  template <typename Visit>
  void for_each_definition(const char* name, Visit&& visit) const;
  template <typename Visit>
  void for_each_candidate(const char* name, Visit&& visit) const;
  Found found_at(uint32_t index) const;
  uint16_t version_number(uint32_t index) const;
  const char* version_name(uint16_t number) const;
  Found find_version(const char* name, const char* version, bool exact) const;
  Found find_any(const char* name, uint16_t oldest) const;

  uintptr_t bias_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
  const uint32_t* hash_ = nullptr;      // GNU's
  const uint32_t* old_hash_ = nullptr;  // System V's
  const uint16_t* versions_ = nullptr;  // of symbols_
  uintptr_t defined_ = 0, needed_ = 0;  // addresses of the version definitions and requirements
};

// The function itself: for an ifunc, what its resolver chooses.
uintptr_t resolved(DynamicSymbols::Found found);
// The first module that defines the function, in the dynamic linker's order, not counting the agent; `behind`: only
// modules after this one. Not in signal handlers.
DynamicSymbols::Found first_definition(const char* name, const link_map* behind = nullptr);
// What a call would reach without the agent, leaving out definitions before it; null: nothing. Like RTLD_NEXT, but
// without dlsym.
void* next_definition(const char* name, const char* version = nullptr);

}  // namespace penna::agent
