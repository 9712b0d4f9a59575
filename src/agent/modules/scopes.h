// SPDX-License-Identifier: MIT
// Where the dynamic linker looks for what a module calls: the global scope, which is the program and what was linked to
// it or preloaded, breadth first, and what was opened with RTLD_GLOBAL since; and what came by the same dlopen.
//
// Why not dlsym: see dynamic_symbols.h; and it has other rules for versions, and looks from where we are, not from
// where the call is.
// Invariant: a definition found is the one that the dynamic linker would bind; where that is not known, none is found.
#pragma once

#include "agent/modules/dynamic_symbols.h"
#include "agent/modules/loader.h"

namespace penna::agent {

// Before the first dlopen: what there is now is the global scope.
void note_linked_modules();

// From before a dlopen until after it: what it brings may become part of the global scope, or be bound in itself first.
// Not in signal handlers.
class ScopeChange {
 public:
  static ScopeChange begin(int mode);
  // `opened`: the handle; null: not known.
  void end(void* opened) const;

 private:
  int mode_ = 0;
  const link_map* last_ = nullptr;  // of those that there were before
};

// The modules in which the names are looked up of what an opened library has brought: itself, and all that it needs.
class OpenedScope {
 public:
  explicit OpenedScope(void* opened);                    // a handle by dlopen, or null: none
  bool holds_any(uintptr_t start, uintptr_t end) const;  // of the modules that lie there
  // Calls visit(const link_map&) for them, breadth first, until it returns false. While they stay.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    dl_find_object found;
    for (uint32_t i = 0; i < count_; ++i)
      if (_dl_find_object(reinterpret_cast<void*>(dynamic_[i]), &found) == 0 && !visit(*found.dlfo_link_map)) return;
  }

 private:
  static constexpr uint32_t kMost = 256;
  uint32_t count_ = 0;
  uintptr_t dynamic_[kMost];  // a module by its dynamic section
};

// What calls out of a module are bound to. While nobody unloads it. Not in signal handlers.
class BindingScope {
 public:
  // `opened`: what dlopen gave when the module came; null: it was there from the start.
  BindingScope(uintptr_t module_start, void* opened);
  DynamicSymbols::Found find(const char* name, const char* version) const;
  // What dlsym gives with RTLD_DEFAULT.
  DynamicSymbols::Found find_default(const char* name, const char* version) const;

 private:
  template <typename Look>
  DynamicSymbols::Found look(Look&& look_in) const;

  const link_map* importer_;
  OpenedScope opened_;
  bool symbolic_ = false, deep_ = false;
};

// What dlsym gives one who has `caller` as its module, with RTLD_NEXT.
DynamicSymbols::Found find_next(const link_map& caller, const char* name, const char* version);

}  // namespace penna::agent
