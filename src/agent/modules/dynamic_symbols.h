// SPDX-License-Identifier: MIT
// What a loaded module defines for others, by name: its hash table, GNU's or System V's, read where the dynamic linker
// reads it.
//
// Why not dlsym: it takes the linker's lock, may allocate from the target's heap, which may be at work just now, and
// forgets what the program's dlerror() would have said.
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
    bool is_resolver = false;
  };
  // Of several versions the default one, or another one where there is none.
  Found find(const char* name) const;
  // What the dynamic linker takes for a call of `name` in this version; null: in none. What has no version serves for
  // each.
  Found find_for_call(const char* name, const char* version) const;
  // What dlsym takes, and dlvsym, which wants just this version.
  Found find_for_dlsym(const char* name, const char* version) const;
  // Does it ask others for `name`? What it does not define comes first in its table.
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
  uintptr_t defined_ = 0, needed_ = 0;  // the versions' names
};

// The function itself: an ifunc's resolver chooses it.
uintptr_t resolved(DynamicSymbols::Found found);
// The first module that defines the function, in the order of the dynamic linker, but for us; `behind`: of those behind
// this one. Not in signal handlers.
DynamicSymbols::Found first_definition(const char* name, const link_map* behind = nullptr);
// What a call would reach if we were not there, but for what is in front of us; null: nothing. As dlsym's RTLD_NEXT,
// without dlsym.
void* next_definition(const char* name, const char* version = nullptr);

}  // namespace penna::agent
