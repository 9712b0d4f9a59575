// SPDX-License-Identifier: MIT
// See entered_functions.h.
#include "agent/entered_functions.h"

#include <dlfcn.h>

#include "agent/call_patches.h"
#include "agent/dynamic_symbols.h"
#include "agent/hooks/dlopen.h"
#include "agent/loader.h"
#include "agent/modules.h"
#include "agent/pass_on.h"
#include "agent/real.h"
#include "agent/scopes.h"

namespace penna::agent {
namespace {

constexpr uint32_t kSlots = 1 << 14;
constexpr uintptr_t kForgotten = 1;
uintptr_t entered[kSlots];  // by hash, open addresses; 0: unused, kForgotten: used once
uint32_t entered_count;

uint32_t home_of(uintptr_t function) { return static_cast<uint32_t>((function * 0x9e3779b97f4a7c15) >> 50); }
static_assert(kSlots == uint64_t{1} << (64 - 50));

bool is_entered(uintptr_t function) {
  for (uint32_t i = home_of(function);; i = (i + 1) % kSlots) {
    const uintptr_t seen = __atomic_load_n(&entered[i], __ATOMIC_RELAXED);
    if (seen == function) return true;
    if (seen == 0) return false;
  }
}

void enter(void* found, uintptr_t caller) {
  const auto function = reinterpret_cast<uintptr_t>(found);
  if (found == nullptr || is_entered(function)) return;
  const link_map* map = map_of(function);
  if (map == nullptr || map == map_of(caller) || is_ours(map)) return;
  if (!patch_function(function)) count_refused_function();
}

// What a caller who asks for RTLD_DEFAULT or RTLD_NEXT will be given, as far as one who is not the caller can tell.
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

bool remember_entered_function(uintptr_t function) {
  if (is_entered(function)) return false;
  if (entered_count >= kSlots / 4 * 3) return count_refused_function(), false;
  uint32_t i = home_of(function);
  while (entered[i] > kForgotten) i = (i + 1) % kSlots;
  entered_count += entered[i] == 0;
  __atomic_store_n(&entered[i], function, __ATOMIC_RELAXED);
  return true;
}

void forget_entered_functions(uintptr_t start, uintptr_t end) {
  if (entered_count == 0) return;  // leaves the table's memory alone
  for (uintptr_t& slot : entered) {
    uintptr_t seen = __atomic_load_n(&slot, __ATOMIC_RELAXED);
    if (seen > kForgotten && seen - start < end - start)
      __atomic_compare_exchange_n(&slot, &seen, kForgotten, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
}

// Called by the wrappers below, which go on to what these give.
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

// With RTLD_DEFAULT and RTLD_NEXT they search by the module of whoever calls them.
PENNA_PASS_ON(dlsym, penna_agent_before_dlsym);
PENNA_PASS_ON(dlvsym, penna_agent_before_dlvsym);
