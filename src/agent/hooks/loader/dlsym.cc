// SPDX-License-Identifier: MIT
// dlsym and dlvsym. Under record --libcalls the pointers that they return must not change, because programs compare
// them; so the function itself is patched with a detour, before the pointer is returned.
//
// Why at the lookup: nothing else shows which functions a program calls through such pointers.
// Invariant: the caller gets what the dynamic linker returns.
#include <dlfcn.h>

#include "agent/core/arch.h"
#include "agent/hooks/loader/dlopen.h"
#include "agent/modules/dynamic_symbols.h"
#include "agent/modules/loader.h"
#include "agent/modules/real.h"
#include "agent/modules/scopes.h"
#include "agent/patch/call_patches.h"
#include "agent/patch/entered_functions.h"

namespace penna::agent {
namespace {

void enter(void* found, uintptr_t caller) {
  const auto function = reinterpret_cast<uintptr_t>(found);
  if (found == nullptr || is_entered_function(function)) return;
  const link_map* map = map_of(function);
  if (map == nullptr || map == map_of(caller) || is_ours(map)) return;
  if (!patch_function(function)) count_refused_function();
}

// Predicts what a caller gets for RTLD_DEFAULT or RTLD_NEXT, as far as that is possible from another module.
void* foresee(void* handle, const char* name, const char* version, uintptr_t caller) {
  const link_map* map = map_of(caller);
  if (map == nullptr) return nullptr;
  const auto found = handle == RTLD_NEXT ? find_next(*map, name, version)
                                         : BindingScope(caller, const_cast<link_map*>(map)).find_default(name, version);
  return reinterpret_cast<void*>(resolved(found));
}

bool depends_on_caller(void* handle) { return handle == RTLD_DEFAULT || handle == RTLD_NEXT; }

void* find_and_enter(void* handle, const char* name) {
  void* found = real.dlsym(handle, name);
  enter(found, reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
  return found;
}

void* find_version_and_enter(void* handle, const char* name, const char* version) {
  void* found = real.dlvsym(handle, name, version);
  enter(found, reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
  return found;
}

}  // namespace

// Called by the wrappers below, which jump to what these return.
extern "C" __attribute__((visibility("hidden"))) void* penna_agent_before_dlsym(void* handle, const char* name,
                                                                                uintptr_t,
                                                                                const uintptr_t* return_slot) {
  if (real.dlsym == nullptr) resolve_real_functions();
  see_opened_modules(return_slot);
  if (!patches_pointers() || name == nullptr) return reinterpret_cast<void*>(real.dlsym);
  if (!depends_on_caller(handle)) return reinterpret_cast<void*>(find_and_enter);
  enter(foresee(handle, name, nullptr, *return_slot), *return_slot);
  return reinterpret_cast<void*>(real.dlsym);
}

extern "C" __attribute__((visibility("hidden"))) void* penna_agent_before_dlvsym(void* handle, const char* name,
                                                                                 const char* version,
                                                                                 const uintptr_t* return_slot) {
  if (real.dlvsym == nullptr) resolve_real_functions();
  see_opened_modules(return_slot);
  if (!patches_pointers() || name == nullptr || version == nullptr) return reinterpret_cast<void*>(real.dlvsym);
  if (!depends_on_caller(handle)) return reinterpret_cast<void*>(find_version_and_enter);
  enter(foresee(handle, name, version, *return_slot), *return_slot);
  return reinterpret_cast<void*>(real.dlvsym);
}

}  // namespace penna::agent

// With RTLD_DEFAULT and RTLD_NEXT they resolve for the module of their caller.
PENNA_PASS_ON(dlsym, penna_agent_before_dlsym);
PENNA_PASS_ON(dlvsym, penna_agent_before_dlvsym);
