// SPDX-License-Identifier: MIT
// Where the dynamic linker resolves a module's calls: in the global scope (the program and what was linked to it or
// preloaded, breadth first, and what was opened with RTLD_GLOBAL since), and in what was loaded by the same dlopen.
//
// Why not dlsym: see dynamic_symbols.h; also it treats versions differently, and resolves for the agent's module, not
// for the caller's.
// Invariant: a definition that is found is the one that the dynamic linker would bind; if that is unknown, none is
// found.
#pragma once

#include "agent/modules/dynamic_symbols.h"
#include "agent/modules/loader.h"

namespace penna::agent {

// Call before the first dlopen: the modules that are loaded now are the global scope.
void note_linked_modules();

// Spans a dlopen: what it loads may join the global scope, or resolve in itself first. Not in signal handlers.
class ScopeChange {
 public:
  static ScopeChange begin(int mode);
  // `opened`: the handle; null: unknown.
  void end(void* opened) const;

 private:
  int mode_ = 0;
  const link_map* last_ = nullptr;  // the last module that was there before
};

// The scope of an opened library: itself, and everything that it needs.
class OpenedScope {
 public:
  explicit OpenedScope(void* opened);                    // a handle of dlopen, or null: empty
  bool holds_any(uintptr_t start, uintptr_t end) const;  // any of the modules in that range
  // Calls visit(const link_map&) for them, breadth first, until it returns false. While they stay loaded.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    dl_find_object found;
    for (uint32_t i = 0; i < count_; ++i)
      if (_dl_find_object(reinterpret_cast<void*>(dynamic_[i]), &found) == 0 && !visit(*found.dlfo_link_map)) return;
  }

 private:
  static constexpr uint32_t kMost = 256;
  uint32_t count_ = 0;
  uintptr_t dynamic_[kMost];  // a module by the address of its dynamic section
};

// What calls out of a module are bound to. Valid while it stays loaded. Not in signal handlers.
class BindingScope {
 public:
  // `opened`: the result of the dlopen that loaded the module; null: it was there from the start.
  BindingScope(uintptr_t module_start, void* opened);
  DynamicSymbols::Found find(const char* name, const char* version) const;
  // What dlsym returns for RTLD_DEFAULT.
  DynamicSymbols::Found find_default(const char* name, const char* version) const;

 private:
  template <typename Look>
  DynamicSymbols::Found look(Look&& look_in) const;

  const link_map* importer_;
  OpenedScope opened_;
  bool symbolic_ = false, deep_ = false;
};

// What dlsym returns for RTLD_NEXT when called from the module `caller`.
DynamicSymbols::Found find_next(const link_map& caller, const char* name, const char* version);

}  // namespace penna::agent
