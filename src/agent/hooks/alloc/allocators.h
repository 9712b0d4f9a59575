// SPDX-License-Identifier: MIT
// Allocators that programs and libraries bring, and whose functions are not reached through ours: a malloc in the
// program itself, which comes before every preloaded library's, or one that a library keeps to itself; operators that
// do not go through malloc.
//
// Invariant: of an allocator, all functions of C are entered or none, and so are its operators: else blocks would be
// seen to come and not to go. None is entered while another thread may be at work in it: then the recorder is told, and
// the recording names it.
#pragma once

#include <stdint.h>

#include "penna/channel.h"
#include "penna/patch_plan.h"

namespace penna::agent {

class NewModules;

// Called from enter_functions(); allocators are entered behind it, but in a forked child, where they are already. Gives
// whether they shall be.
bool start_allocators(const penna_config& config, bool forked);

// Those of these modules, which this thread visits.
void enter_allocators(const NewModules& modules, penna_unless unless);

// The module that began here was unmapped.
void forget_allocator(uintptr_t module_start);

}  // namespace penna::agent
