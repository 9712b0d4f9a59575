// SPDX-License-Identifier: MIT
// Allocators that programs and libraries bring, and whose functions are not reached through ours: a malloc in the program itself, which
// comes before every preloaded library's, or one that a library keeps to itself; operators that do not go through malloc.
//
// Invariant: of an allocator, all functions of C are entered or none, and so are its operators: else blocks would be seen to come and
// not to go. None is entered while another thread may be at work in it: then the recorder is told, and the recording names it.
#pragma once

#include <stdint.h>

#include "penna/channel.h"

namespace penna::agent {

// Called from start(), once the channel takes records: asks the recorder for the allocators that there are. In a forked child they are
// entered already.
void start_allocators(const penna_config& config, bool forked);

// While this thread is in a dlopen behind which it calls OpeningAllocators::enter(), or will be told that it failed.
class DlopenScope {
 public:
  DlopenScope();
  ~DlopenScope();
  DlopenScope(const DlopenScope&) = delete;
  DlopenScope& operator=(const DlopenScope&) = delete;
};

// From before a dlopen until after it: which modules can no other thread have been at work in? Not in signal handlers.
class OpeningAllocators {
 public:
  static OpeningAllocators begin();
  // What it has brought is entered. `opened`: the handle, or null where it is not known.
  void enter(void* opened) const;

 private:
  bool alone_ = true;
  uint64_t threads_ = 0;
};

// The module that began here was unmapped.
void forget_allocator(uintptr_t module_start);

}  // namespace penna::agent
