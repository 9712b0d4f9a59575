// SPDX-License-Identifier: MIT
// Which code is mapped where: told to the channel before the first record that has an address in it.
//
// Why a table of our own: dl_iterate_phdr takes the dynamic linker's lock, which a hook must never do; a forked child
// tells its new channel from this table. Invariant: a module is told at most once a channel, unless it was unmapped
// in between; then module_generation has grown.
#pragma once

#include <dlfcn.h>
#include <stdint.h>

#include "penna/channel.h"

namespace penna::agent {

// Tells all modules to a new channel: those that the dynamic linker has, or in a forked child those of the table.
void announce_modules(bool forked);

// Makes sure that the module that holds `pc` has been told. Async-signal-safe.
void ensure_module(uintptr_t pc);
void ensure_module(const dl_find_object& found);

// True when code was mapped or unmapped since the start (dlopen was called).
bool code_may_change();

// Upper half of the addresses of the main program's code.
uint32_t main_program_high();

// Points register with modules: calls `visit` for each module of the table.
void for_each_module(void (*visit)(uintptr_t bias, uintptr_t start, uintptr_t end));

}  // namespace penna::agent
