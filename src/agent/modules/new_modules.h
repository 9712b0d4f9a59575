// SPDX-License-Identifier: MIT
// Modules that a visitor (modules.h) has not seen yet: claimed by one thread, and kept loaded until it is done with
// them.
//
// Why: a visit asks the recorder and writes code, which is slow and must not happen under the dynamic linker's lock.
// Invariant: a visitor sees each module once, and a module stays mapped while it is visited.
#pragma once

#include <stdint.h>

#include "agent/modules/modules.h"

namespace penna::agent {

// Keeps a module loaded from pin() to unpin(). pin() needs a LinkerTurn.
class ModulePin {
 public:
  // False: the module is gone. Not in signal handlers.
  bool pin(const ModuleFacts& module);
  void unpin();
  void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;  // null: not needed
};

// Some or all of the modules that a visitor has not seen yet: only this thread sees them, and they stay loaded as long
// as this object lives. No lock is held meanwhile: the dynamic linker's lock is taken for each of them, and its holder
// may wait for any of the agent's.
// `opened`: the handle that a dlopen of this thread has just returned, or null. Its modules need no lock of the linker.
// Everything else is left to another thread if that is inside dlopen or dlclose, whose constructors may wait for what
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
  // The handle in whose scope its names are looked up; null: it was there from the start.
  void* handle(uint32_t i) const { return handles_[i]; }

 private:
  ModuleVisitor visitor_;
  uint32_t count_ = 0;
  uint32_t slots_[kMost];
  ModuleFacts facts_[kMost];
  ModulePin pins_[kMost];
  void* handles_[kMost];
};
// Calls visit(NewModules) until none are left, or it returns false.
template <typename Visit>
void visit_new_modules(ModuleVisitor visitor, void* opened, Visit&& visit) {
  for (bool more = has_new_modules(visitor); more;) {
    const NewModules modules(visitor, opened);
    more = modules.count() != 0 && visit(modules) && modules.maybe_more();
  }
}
// Whether any were left to another thread since the last call.
bool modules_were_left();
// Waits until no other thread visits the modules that this one has opened and is about to call (null: unknown). False:
// gave up after a second; the other thread may wait for the dynamic linker's lock, which this one may hold.
bool wait_for_visits(ModuleVisitor visitor, void* opened);

}  // namespace penna::agent
