// SPDX-License-Identifier: MIT
// dlopen and dlclose: modules that a dlopen loads are described, bound and patched when it returns; those that a
// dlclose unloads are forgotten.
//
// Why some calls of dlopen are passed on by a jump: the dynamic linker searches the RUNPATH of its caller.
// Invariant: the caller gets what the dynamic linker returns.
#include "agent/hooks/loader/dlopen.h"

#include <dlfcn.h>
#include <link.h>

#include "agent/core/arch.h"
#include "agent/core/call_filters.h"
#include "agent/core/state.h"
#include "agent/modules/deep_binding.h"
#include "agent/modules/linker_turns.h"
#include "agent/modules/loader.h"
#include "agent/modules/modules.h"
#include "agent/modules/new_modules.h"
#include "agent/modules/opening.h"
#include "agent/modules/passed_opens.h"
#include "agent/modules/real.h"
#include "agent/modules/scopes.h"
#include "agent/patch/call_patches.h"
#include "penna/detail/join.h"

namespace penna::agent {
namespace {

bool has_entry(const link_map& map, long tag) {
  for (const ElfW(Dyn)* entry = map.l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == tag) return true;
  return false;
}

// Whether the dynamic linker finds this name just as well if the agent calls it. A name with a slash is a path; any
// other is searched for in the caller's RUNPATH, and the RPATHs of the modules that loaded it in turn; $ORIGIN is the
// caller's directory.
bool found_by_anyone(const char* name, uintptr_t caller) {
  bool is_path = false;
  if (name == nullptr) return false;
  for (; *name != '\0'; ++name) {
    if (*name == '$') return false;
    is_path |= *name == '/';
  }
  dl_find_object found;
  if (is_path) return true;
  if (_dl_find_object(reinterpret_cast<void*>(caller), &found) != 0 || has_entry(*found.dlfo_link_map, DT_RUNPATH))
    return false;
  bool any_rpath = false;
  for_each_module([&](const link_map& map) { return !(any_rpath = has_entry(map, DT_RPATH)); });
  return !any_rpath;
}

// Visits what a dlopen has loaded. `handle`: null if unknown.
void visit_opened(const Opening& opening, void* handle) {
  if (code_refused()) return;
  settle_passed_opens(nullptr, nullptr);
  redirect_deep_bindings(handle);
  redirect_module_ends(handle);
  patch_new_modules(handle);
  opening.enter(handle);
}

// Called after each dlopen; set by libpenna-etrace.so as long as it has found nothing to record.
void (*when_opened)();
void notify_waiter() {
  if (const auto look = __atomic_load_n(&when_opened, __ATOMIC_ACQUIRE)) look();
}

int close_in_stay(void* handle, bool* unloaded) {
  const LinkerStay stay;
  return close_module(handle, unloaded);
}

void* open_in_stay(const Opening& opening, const char* name, int mode) {
  const LinkerStay stay;
  const auto change = ScopeChange::begin(mode);
  void* handle = real.dlopen(name, mode);
  if (handle != nullptr) change.end(handle);
  if (handle != nullptr) visit_opened(opening, handle);
  return handle;
}

void* open_seen(const char* name, int mode) {
  const auto opening = Opening::begin();
  void* handle = open_in_stay(opening, name, mode);
  if (modules_were_left()) visit_opened(opening, nullptr);
  return handle;
}

void* open_and_look(const char* name, int mode) {
  void* const handle = open_seen(name, mode);
  if (handle != nullptr) notify_waiter();
  return handle;
}

void* open_unseen(int mode, const uintptr_t* return_slot) {
  const auto opening = Opening::begin();
  begin_passed_open(opening, ScopeChange::begin(mode), return_slot);
  // Entered by a jump, the dynamic linker finds the program's own return address, and with it the caller.
  return reinterpret_cast<void*>(real.dlopen);
}

}  // namespace

void see_opened_modules(const uintptr_t* return_slot) {
  Opening earliest;
  if (!settle_passed_opens(return_slot, &earliest)) return;
  visit_opened(earliest, nullptr);
  notify_waiter();
}

// Called by the wrapper of dlopen below, which jumps to what this returns.
extern "C" __attribute__((visibility("hidden"))) void* penna_agent_before_dlopen(const char* name, int mode, uintptr_t,
                                                                                 const uintptr_t* return_slot) {
  expect_code_changes();
  if ((mode & RTLD_DEEPBIND) != 0) expect_deep_binding();
  if (real.dlopen == nullptr) resolve_real_functions();
  return found_by_anyone(name, *return_slot) ? reinterpret_cast<void*>(open_and_look) : open_unseen(mode, return_slot);
}

}  // namespace penna::agent

// It searches the RUNPATH of its caller.
PENNA_PASS_ON(dlopen, penna_agent_before_dlopen);

extern "C" __attribute__((visibility("default"))) void penna_agent_when_opened(void (*look)()) {
  __atomic_store_n(&penna::agent::when_opened, look, __ATOMIC_RELEASE);  // pairs with notify_waiter()
}

extern "C" __attribute__((visibility("default"))) int dlclose(void* handle) {
  using namespace penna::agent;
  if (real.dlclose == nullptr) resolve_real_functions();
  bool unloaded = false;
  // The filter forbids system calls that forgetting modules may need.
  if ((call_refusals & kRefusesRecording) != 0) return real.dlclose(handle);
  if (!code_refused()) redirect_module_ends(nullptr);
  const int error = close_in_stay(handle, &unloaded);
  // Another thread may have loaded a module at the same address, which was mistaken for the one forgotten just now.
  if (unloaded || modules_were_left()) visit_opened(Opening::begin(), nullptr);
  return error;
}
