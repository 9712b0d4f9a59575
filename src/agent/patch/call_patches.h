// SPDX-License-Identifier: MIT
// Makes the functions of this process lead to the hook of calls_x86_64.S, as the recorder has planned
// (penna/patch_plan.h).
//
// Invariant: a place is written only when it holds what the plan says; what is not written is counted.
#pragma once

#include <stdint.h>

#include "agent/modules/modules.h"
#include "penna/channel.h"
#include "penna/patch_plan.h"

namespace penna::agent {

class NewModules;

// Called from start() once the channel takes records: asks for all modules that there are. A forked child has its
// parent's patches.
void start_call_patches(const penna_config& config, bool forked);

// After a dlopen, which gave `opened`: the same for modules that are new. Not in signal handlers.
void patch_new_modules(void* opened);

// Shall functions that dlsym finds be patched (record --libcalls)?
bool patches_pointers();
// The same for one function, once. False: another thread goes on patching. Not in signal handlers.
bool patch_function(uintptr_t function);
void count_refused_function();

// A function of a module, by its symbol, and what its calls shall go to.
struct Instead {
  const char* symbol;
  uintptr_t hook;
};
enum class EnterInstead : uint8_t { kNone, kEntered, kNotUnderThreads };
// Lets the calls of `count` functions go there, those of them that the module has and the recorder has planned for;
// originals[i] then is code that does what the function did. Two symbols of one place: only the first. With other
// threads only while none can be in the module, and each place by one store; kNotUnderThreads: one cannot be written
// so, and none was. `unless`: none is to be entered, the recording shall name them.
EnterInstead enter_instead(const ModuleFacts& module, const Instead* functions, uint32_t count, uintptr_t* originals,
                           penna_unless unless);

// Does the module define any of them, shown to others or not? True also when nobody answers.
bool has_any_function(const ModuleFacts& module, const char* const* symbols, uint32_t count);

// The same for all functions of locks that the modules bring: calls go to `hook`, with the function's number on the
// stack. Each is told by entered(patch, start of its module), before it can be called; `patch.stub` is code that does
// what the function did.
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
