// SPDX-License-Identifier: MIT
// Modules that a visitor (modules.h) has not seen yet: taken by one thread, and kept from being unloaded until it is
// done with them.
//
// Why: a visit asks the recorder and writes code, which takes long and must not happen under the dynamic linker's lock.
// Invariant: a visitor sees each module once, and a module stays mapped as long as it is visited.
#pragma once

#include <stdint.h>

#include "agent/modules/modules.h"

namespace penna::agent {

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

// The modules that a visitor has not seen yet, or some of them: they are seen by this thread alone, and stay as long as
// this object. No lock is held meanwhile: the dynamic linker's is taken for each, and its holder may wait for any of
// ours.
// `opened`: a dlopen by this thread has just returned this handle, or null. What it holds needs no lock of the
// linker's. All else is left to another thread if one is in a dlopen or dlclose, whose constructors may wait for what
// this thread does next.
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
// Waits until no other thread visits what this one has opened, and is about to call (null: it is not known what that
// is). False: a second is over; the other one may wait for the dynamic linker's lock, which this one may hold.
bool wait_for_visits(ModuleVisitor visitor, void* opened);

}  // namespace penna::agent
