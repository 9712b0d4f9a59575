// SPDX-License-Identifier: MIT
// Who is told of modules as they come and go: one entry each in the table of module_subscribers.cc.
//
// Why a constant table: modules go in dlclose, in destructors, and before there is a recorder; whoever had to register
// first would race with them. And modules.cc names none of its users.
// Invariant: subscribers are called in the table's order.
#pragma once

#include <stdint.h>

#include "penna/channel.h"
#include "penna/patch_plan.h"

namespace penna::agent {

class NewModules;

struct ModuleSubscriber {
  // The module that was mapped in [start, end) is gone. Under the lock of the table of modules: nothing that is mapped
  // there since is known yet. Null: it does not care.
  void (*on_gone)(uintptr_t start, uintptr_t end) = nullptr;
  // Once, behind on_gone() of all modules that one unmapping has taken, with module_generation grown.
  void (*after_gone)() = nullptr;

  // New modules, which this thread visits (opening.h). `unless` not PENNA_UNLESS_NOTHING: nothing is to be written into
  // them, the recording shall name what is left. Called as long as `event_class` is recorded, if `start` gave true.
  void (*on_new)(const NewModules& modules, penna_unless unless) = nullptr;
  // When recording starts, and again in each forked child.
  bool (*start)(const penna_config& config, bool forked) = nullptr;
  penna_event_class event_class = PENNA_CLASS_COUNT;
};

inline constexpr uint32_t kModuleSubscribers = 8;
extern const ModuleSubscriber module_subscribers[kModuleSubscribers];

}  // namespace penna::agent
