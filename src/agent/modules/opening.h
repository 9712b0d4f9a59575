// SPDX-License-Identifier: MIT
// Modules whose code is written into on behalf of subscribers (module_subscriber.h): functions of allocators and of
// locks, which are entered where they lie, and probes of other headers. All modules that are there at the start, and
// what is opened later.
//
// Why when one is opened: nobody can be at work then in what has just come, unless a constructor has started a thread.
// Invariant: a module is looked at once. None is entered in which another thread may be at work: then the recorder is
// told, and the recording names it.
#pragma once

#include <stdint.h>

#include "penna/channel.h"

namespace penna::agent {

// Called from start(), once the channel takes records: asks the recorder about the modules that there are. In a forked
// child they are entered already.
void enter_functions(const penna_config& config, bool forked);

// From before a dlopen until after it: which modules can no other thread have been at work in? Not in signal handlers.
class Opening {
 public:
  static Opening begin();
  // What it has brought is entered. `opened`: the handle, or null where it is not known.
  void enter(void* opened) const;
  // Fewer threads were there: what it says of who may be at work holds for the other one, too.
  bool is_before(const Opening& other) const { return threads_ < other.threads_; }

 private:
  uint64_t threads_ = 0;  // 0: not known
};

}  // namespace penna::agent
