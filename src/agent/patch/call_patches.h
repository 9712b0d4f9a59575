// SPDX-License-Identifier: MIT
// Patches functions of this process to enter the hook of calls_x86_64.S, as planned by the recorder
// (penna/patch_plan.h).
//
// Invariant: a place is written only if it holds the bytes that the plan expects; places that are not written are
// counted.
#pragma once

#include <stdint.h>

#include "agent/modules/modules.h"
#include "penna/channel.h"
#include "penna/patch_plan.h"

namespace penna::agent {

class NewModules;

// Called from start() once the channel takes records: plans all modules that are mapped. A forked child inherits its
// parent's patches.
void start_call_patches(const penna_config& config, bool forked);

// The same for new modules after a dlopen that returned `opened`. Not in signal handlers.
void patch_new_modules(void* opened);

// Whether functions that dlsym returns are patched (record --libcalls).
bool patches_pointers();
// Patches one function, once. False: another thread is still patching. Not in signal handlers.
bool patch_function(uintptr_t function);
void count_refused_function();

// A function of a module, by symbol, and the replacement that its calls are to go to. `function`: its address; it is
// then patched alone, whatever happens to the others. 0: looked up by the symbol, as part of an allocator.
struct Instead {
  const char* symbol;
  uintptr_t hook;
  uintptr_t function = 0;
};
enum class EnterInstead : uint8_t { kNone, kEntered, kNotUnderThreads };
// Redirects calls of `count` functions, as far as the module has them and the recorder could plan them; originals[i] is
// then code that does what the function did. If two symbols share a place, only the first counts. With other threads,
// only while none can be inside the module, and each place in one step; kNotUnderThreads: some place cannot be written
// so, and none was. `unless`: why none may be patched; the recording then names them.
EnterInstead enter_instead(const ModuleFacts& module, const Instead* functions, uint32_t count, uintptr_t* originals,
                           penna_unless unless);

// Whether the module defines any of these symbols, exported or not. True also if the recorder does not answer.
bool has_any_function(const ModuleFacts& module, const char* const* symbols, uint32_t count);

// Redirects all lock functions of the modules: calls go to `hook`, with the function's number on the stack.
// entered(patch, start of its module) is called for each before it can be called; `patch.stub` is code that does what
// the function did.
struct LockNumbers {
  uint16_t first, count;
};
struct LockEntrance {
  uintptr_t hook;
  LockNumbers (*free_numbers)();
  void (*entered)(const penna_patch& patch, uintptr_t module_start);
};
void enter_locks(const NewModules& modules, penna_unless unless, const LockEntrance& entrance);

}  // namespace penna::agent
