// SPDX-License-Identifier: MIT
// What is notified when modules are loaded and unloaded: one entry each in the table of module_subscribers.cc.
//
// Why a constant table: modules are unloaded in dlclose, in destructors, and before there is a recorder; code that had
// to register first would race with them. And modules.cc names none of its users.
// Invariant: subscribers are called in the table's order.
#pragma once

#include <stdint.h>

#include "penna/channel.h"
#include "penna/patch_plan.h"

namespace penna::agent {

class NewModules;

struct ModuleSubscriber {
  // The module that was mapped in [start, end) is gone. Called under the lock of the table of modules: whatever was
  // mapped there since is not known yet. Null: not interested.
  void (*on_gone)(uintptr_t start, uintptr_t end) = nullptr;
  // Called once, after on_gone() of all modules that were unmapped together; module_generation has grown by then.
  void (*after_gone)() = nullptr;

  // New modules, which this thread visits (opening.h). If `unless` is not PENNA_UNLESS_NOTHING, they must not be
  // patched, and the recording names what is missed. Called as long as one of `classes` is recorded, if `start`
  // returned true.
  void (*on_new)(const NewModules& modules, penna_unless unless) = nullptr;
  // Called when recording starts, and again in each forked child.
  bool (*start)(const penna_config& config, bool forked) = nullptr;
  uint32_t classes = 0;  // class_bit()s
};

inline constexpr uint32_t kModuleSubscribers = 10;
extern const ModuleSubscriber module_subscribers[kModuleSubscribers];

}  // namespace penna::agent
