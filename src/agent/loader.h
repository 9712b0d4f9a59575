// SPDX-License-Identifier: MIT
// The dynamic linker's modules, while other threads open and close them.
//
// Why: its list is read here, and code in its modules is written, by threads that have nothing to do with whoever unloads one.
// Invariant: what is looked at stays mapped as long as it is looked at.
#pragma once

#include <link.h>

#include "agent/modules.h"
#include "agent/real.h"

namespace penna::agent {

// Calls work(); meanwhile no module is mapped or unmapped, and the list beginning at _r_debug.r_map does not change. `work` asks the
// linker for nothing (dlsym and dlopen wait for whoever waits for us). Not in signal handlers.
template <typename Work>
void hold_modules(Work&& work) {
  if (real.dl_iterate_phdr == nullptr) return work();  // at start-up: that is being looked up just now
  real.dl_iterate_phdr(
      [](dl_phdr_info*, size_t, void* argument) {
        (*static_cast<Work*>(argument))();
        return 1;  // all is done at the first
      },
      &work);
}

// Calls visit(const link_map&) for each module in the linker's order, or those behind `behind`, until it returns false. While
// modules are held, or nobody else is there to change the list.
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

// The modules in which the names are looked up of what an opened library has brought: itself, and all that it needs.
class OpenedScope {
 public:
  explicit OpenedScope(void* opened);  // a handle by dlopen, or null: none
  bool holds(const ModuleFacts& module) const;
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

// Keeps a module from being unloaded, from pin() to unpin(). pin() needs a LinkerTurn.
class ModulePin {
 public:
  // False: the module is not there any more. Not in signal handlers.
  bool pin(const ModuleFacts& module);
  void unpin();
  void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;  // null: it needs none
};

// The modules that a visitor has not seen yet, or some of them: they are seen by this thread alone, and stay as long as this object. No
// lock is held meanwhile: the dynamic linker's is taken for each, and its holder may wait for any of ours.
// `opened`: a dlopen by this thread has just returned this handle, or null. What it holds needs no lock of the linker's. All else is left
// to another thread if one is in a dlopen or dlclose, whose constructors may wait for what this thread does next.
class NewModules {
 public:
  static constexpr uint32_t kMost = 64;
  NewModules(ModuleVisitor visitor, void* opened);  // not in signal handlers
  ~NewModules();
  NewModules(const NewModules&) = delete;
  NewModules& operator=(const NewModules&) = delete;
  uint32_t count() const { return count_; }
  bool maybe_more() const { return count_ == kMost; }
  const ModuleFacts& operator[](uint32_t i) const { return facts_[i]; }
  // In whose scope its names are looked up; null: it was there from the start.
  void* handle(uint32_t i) const { return handles_[i]; }

 private:
  ModuleVisitor visitor_;
  uint32_t count_ = 0;
  uint32_t slots_[kMost];
  ModuleFacts facts_[kMost];
  ModulePin pins_[kMost];
  void* handles_[kMost];
};
// Calls visit(NewModules) until there are none left, or it returns false.
template <typename Visit>
void visit_new_modules(ModuleVisitor visitor, void* opened, Visit&& visit) {
  for (bool more = has_new_modules(visitor); more;) {
    const NewModules modules(visitor, opened);
    more = modules.count() != 0 && visit(modules) && modules.maybe_more();
  }
}
// Has any been left to another thread since this was asked last?
bool modules_were_left();
// Waits until no other thread visits what this one has opened, and is about to call (null: it is not known what that is). False: a second
// is over; the other one may wait for the dynamic linker's lock, which this one may hold.
bool wait_for_visits(ModuleVisitor visitor, void* opened);

}  // namespace penna::agent
