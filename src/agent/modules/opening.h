// SPDX-License-Identifier: MIT
// Visits modules for the subscribers that patch code (module_subscriber.h): functions of allocators and locks, and
// probes of other headers. All modules that are loaded at the start, and those opened later.
//
// Why right when they are opened: no thread can be running new code then, unless a constructor has started one.
// Invariant: a module is visited once. Modules that another thread may be running are not patched: they are reported to
// the recorder, and the recording names them.
#pragma once

#include <stdint.h>

#include "penna/channel.h"

namespace penna::agent {

// Called from start(), once the channel takes records: asks the recorder about all modules. In a forked child they are
// patched already.
void enter_functions(const penna_config& config, bool forked);

// Spans a dlopen: decides which modules no other thread can be running. Not in signal handlers.
class Opening {
 public:
  static Opening begin();
  // Visits what was loaded. `opened`: the handle, or null if unknown.
  void enter(void* opened) const;
  // This one counted fewer threads: its verdict on which may be running new code holds for the other one, too.
  bool is_before(const Opening& other) const { return threads_ < other.threads_; }

 private:
  uint64_t threads_ = 0;  // 0: unknown
};

}  // namespace penna::agent
