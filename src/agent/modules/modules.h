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
void expect_code_changes();  // a dlopen begins

// Upper half of the addresses of the main program's code.
uint32_t main_program_high();

// A module, as long as the dynamic linker keeps it.
struct ModuleFacts {
  uintptr_t bias, start, end;
  const uint8_t* build_id;
  const char* path;  // no zero at its end
  uint16_t build_id_bytes, path_bytes;
  bool stays;  // was there before the first dlopen: nobody unloads it
  bool holds(uintptr_t address) const { return address - start < end - start; }
};

// Who looks at each module once. A visit begins when the module cannot be unmapped any more (NewModules pins it), and
// has an end.
enum class ModuleVisitor : uint8_t { kCallPatches, kEntering, kDeepBinding, kCount };
// The first from *slot on, which tells its place in the table, that nobody has begun to visit; false: there is none.
bool next_module_unvisited(ModuleVisitor visitor, uint32_t* slot, ModuleFacts* facts);
bool has_new_modules(ModuleVisitor visitor);
bool begin_visit(ModuleVisitor visitor, uint32_t slot);  // false: another thread has
void end_visit(ModuleVisitor visitor, uint32_t slot);
// Is a module being visited, of those that count? counts(module, argument) tells.
bool is_visited_now(ModuleVisitor visitor, bool (*counts)(const ModuleFacts& module, const void* argument),
                    const void* argument);

// Something was written into the code or the pointers of the module that begins there: it gets a mark by which one can
// see later whether the same is still there, or it has been mapped anew. The caller keeps it from being unmapped, one
// thread at a time.
void mark_written(uintptr_t module_start);

// The module that holds `pc`; false: none does. Valid as long as nobody unloads it.
bool module_at(uintptr_t pc, ModuleFacts* facts);

// Takes what the dynamic linker has mapped since into the table, and what is not there any more out of it. Not in
// signal handlers, nor under a lock of the linker's.
void find_new_modules();

// dlclose as the program does it: what is unloaded is forgotten. The linker's result; true in *unloaded: something was.
int close_module(void* handle, bool* unloaded = nullptr);

}  // namespace penna::agent
