// SPDX-License-Identifier: MIT
// Calls from one module into another: their pointers (the global offset table), redirected through stubs.
//
// Invariant: a stub jumps to what the pointer held, or would have held once the dynamic linker had bound it.
#pragma once

#include <stdint.h>

#include "agent/modules/scopes.h"
#include "penna/patch_plan.h"

namespace penna::agent {

// Fills the penna_stub of an import, in near memory that is still writable. `version`: null for an unversioned import.
// `scope`: the module's.
void prepare_import(const penna_patch& patch, const penna_patch_question& question, const char* name,
                    const char* version, const BindingScope& scope);

// Redirects the pointer to the stub. False: the import was not found, or the pointer cannot be written.
bool switch_import(const penna_patch& patch, const penna_patch_question& question);

// Writes into a pointer table that the dynamic linker may have made read-only. False: not possible.
bool write_pointer(uintptr_t module_start, uintptr_t pointer, uintptr_t value);

}  // namespace penna::agent
