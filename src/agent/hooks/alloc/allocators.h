// SPDX-License-Identifier: MIT
// Allocators of programs and libraries that the interposed functions do not see: a malloc in the program itself, which
// takes precedence over every preloaded library, or one that is private to a library; operators that do not use malloc.
//
// Invariant: of an allocator, either all C functions are patched or none, and the same for its operators: otherwise
// blocks would seem to be allocated and never freed. None is patched while another thread may be running it: that is
// reported to the recorder, and the recording names the allocator.
#pragma once

#include <stdint.h>

#include "penna/channel.h"
#include "penna/patch_plan.h"

namespace penna::agent {

class NewModules;

// Called from enter_functions(), before allocators are patched; in a forked child they already are. Returns whether to
// patch them.
bool start_allocators(const penna_config& config, bool forked);

// Patches the allocators in these modules, which this thread visits.
void enter_allocators(const NewModules& modules, penna_unless unless);

// The module that started here was unmapped.
void forget_allocator(uintptr_t module_start);

}  // namespace penna::agent
