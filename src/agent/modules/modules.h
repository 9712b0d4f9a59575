// SPDX-License-Identifier: MIT
// Which code is mapped where: described to the channel before the first record with an address in it.
//
// Why a separate table: dl_iterate_phdr takes the dynamic linker's lock, which a hook must never do; a forked child
// describes modules to its new channel from this table.
// Invariant: a module is described at most once per channel, unless it was unmapped in between; then module_generation
// has grown.
#pragma once

#include <dlfcn.h>
#include <stdint.h>

#include "penna/channel.h"

namespace penna::agent {

// Describes all modules to a new channel: those in the dynamic linker's list, or in a forked child those of the table.
void announce_modules(bool forked);

// Makes sure that the module that contains `pc` is described. Async-signal-safe.
void ensure_module(uintptr_t pc);
void ensure_module(const dl_find_object& found);

// Whether code may have been mapped or unmapped since the start (dlopen was called).
bool code_may_change();
void expect_code_changes();  // called when a dlopen begins

// The upper half of the code addresses of the main program.
uint32_t main_program_high();

// A module; valid as long as it is loaded.
struct ModuleFacts {
  uintptr_t bias, start, end;
  const uint8_t* build_id;
  const char* path;  // not zero-terminated
  uint16_t build_id_bytes, path_bytes;
  bool stays;  // loaded before the first dlopen, so it is never unloaded
  bool holds(uintptr_t address) const { return address - start < end - start; }
};

// Visitors look at each module once. A visit starts once the module cannot be unmapped any more (NewModules pins it),
// and it always ends.
enum class ModuleVisitor : uint8_t { kCallPatches, kEntering, kDeepBinding, kModuleEnds, kCount };
// The first module from *slot on whose visit has not started; sets *slot to its place. False: there is none.
bool next_module_unvisited(ModuleVisitor visitor, uint32_t* slot, ModuleFacts* facts);
bool has_new_modules(ModuleVisitor visitor);
bool begin_visit(ModuleVisitor visitor, uint32_t slot);  // false: another thread did
void end_visit(ModuleVisitor visitor, uint32_t slot);
// Whether any module for which counts(module, argument) is true is being visited.
bool is_visited_now(ModuleVisitor visitor, bool (*counts)(const ModuleFacts& module, const void* argument),
                    const void* argument);

// Call after something was written into the code or pointers of the module that starts there: it gets a mark that shows
// later whether it is still the same mapping. The caller keeps it from being unmapped; one thread at a time.
void mark_written(uintptr_t module_start);

// The module that contains `pc`; false: none. Valid as long as it is not unloaded.
bool module_at(uintptr_t pc, ModuleFacts* facts);

// Brings the table up to date with what the dynamic linker has mapped and unmapped. Not in signal handlers, nor under a
// lock of the linker.
void find_new_modules();

// dlclose for the program, which also forgets what was unloaded. Returns the linker's result; *unloaded: something was
// unloaded.
int close_module(void* handle, bool* unloaded = nullptr);

}  // namespace penna::agent
