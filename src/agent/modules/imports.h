// SPDX-License-Identifier: MIT
// Calls from one module into another: the pointers through which they go (the global offset table), led over stubs.
//
// Invariant: what a stub jumps to is what the pointer held, or would have held once the dynamic linker had looked.
#pragma once

#include <stdint.h>

#include "agent/modules/scopes.h"
#include "penna/patch_plan.h"

namespace penna::agent {

// Fills the penna_stub of an import, in near memory that is still writable. `version`: null when the module asks for
// none.
// `scope`: the module's.
void prepare_import(const penna_patch& patch, const penna_patch_question& question, const char* name,
                    const char* version, const BindingScope& scope);

// Lets the pointer lead to the stub. False: the import was not found, or the pointer may not be written.
bool switch_import(const penna_patch& patch, const penna_patch_question& question);

// Writes into a table of pointers that the dynamic linker may have sealed. False: it may not be written.
bool write_pointer(uintptr_t module_start, uintptr_t pointer, uintptr_t value);

}  // namespace penna::agent
