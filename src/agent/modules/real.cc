// SPDX-License-Identifier: MIT
// See real.h.
#include "agent/modules/real.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <sys/single_threaded.h>

#include "agent/core/text.h"
#include "agent/modules/dynamic_symbols.h"
#include "agent/modules/loader.h"
#include "agent/modules/scopes.h"
#include "agent/standalone/standalone.h"

extern "C" char** environ;

namespace penna::agent {

RealFunctions real;
bool real_is_known;
bool libc_was_ready;
RealFunctions real_before;
void* (*programs_realloc)(void*, size_t);

namespace {

enum Progress : uint32_t { kNotYet, kAtWork, kDone };
uint32_t progress;

// The first definition outside of libc, as of the unwinder's functions. Its library may have been opened by the program
// itself, which may close it at any moment: it is kept open from here on, as libc keeps the unwinder's once it has
// needed it. Null: there is none, or it is gone by now.
void* find_and_keep(const char* name) {
  static char path[PATH_MAX];  // copied while no module can go
  DynamicSymbols::Found found;
  for_each_module([&](const link_map& map) {
    if (!is_ours(&map) && !is_kernels(map)) found = DynamicSymbols(map).find(name);
    if (found.address == 0) return true;
    size_t length = 0;
    for (; map.l_name[length] != 0 && length + 1 < sizeof path; ++length) path[length] = map.l_name[length];
    path[length] = 0;
    return false;
  });
  if (found.address == 0) return nullptr;
  if (path[0] == 0) return reinterpret_cast<void*>(resolved(found));  // in the program, which stays
  void* const kept = real.dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  return kept != nullptr ? real.dlsym(kept, name) : nullptr;
}

// No definition follows the agent's: libc's own, the default one of several versions; if it has none, the first one
// found.
void* find_late(const char* name) {
#ifdef PENNA_STANDALONE
  return reinterpret_cast<void*>(program_function(name));
#endif
  const DynamicSymbols::Found found = DynamicSymbols(*libc_map()).find(name);
  return found.address != 0 ? reinterpret_cast<void*>(resolved(found)) : find_and_keep(name);
}

// The condition variables of glibc's oldest version have another layout. clockwait was added later and exists only
// once.
void* find(const char* name) {
  if (loaded_late) return find_late(name);
  if (text_begins(name, "pthread_cond_", 13) && !text_begins(name, "pthread_cond_clockwait", 22))
    if (void* versioned = next_definition(name, "GLIBC_2.3.2")) return versioned;
  return next_definition(name);
}

// If the agent was loaded late, other threads may be unloading modules right now. At start-up there are none, and
// nothing to find the linker's function with.
void hold_modules_from_here_on() {
  if (!libc_is_ready() || __libc_single_threaded != 0) return;
  const uintptr_t found = DynamicSymbols(*libc_map()).find("dl_iterate_phdr").address;
  iterate_modules = reinterpret_cast<decltype(iterate_modules)>(found);
}

struct EarlyBlock {
  size_t bytes;
  size_t padding;
};

size_t early_used;

}  // namespace

alignas(64) char early_memory[64 << 10];

bool resolve_real_functions() {
  uint32_t seen = kNotYet;
  if (!__atomic_compare_exchange_n(&progress, &seen, kAtWork, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
    return seen == kDone;
  hold_modules_from_here_on();
  note_linked_modules();
  loaded_late = is_behind_libc();
#define PENNA_REAL(name) real.name = reinterpret_cast<decltype(real.name)>(find(#name));
#define PENNA_REAL_UNDECLARED(name, ...) PENNA_REAL(name)
#include "agent/modules/real.inc"
#undef PENNA_REAL_UNDECLARED
#undef PENNA_REAL
  iterate_modules = real.dl_iterate_phdr;
  if (_r_debug.r_map != nullptr)
    programs_realloc =
        reinterpret_cast<void* (*)(void*, size_t)>(DynamicSymbols(*_r_debug.r_map).find("realloc").address);
  real_before = real;
  real_is_known = true;
  __atomic_store_n(&progress, kDone, __ATOMIC_RELEASE);  // pairs with the acquire above
  return true;
}

bool libc_is_ready() { return libc_was_ready || (libc_was_ready = environ != nullptr); }

void* early_alloc(size_t bytes, size_t alignment) {
  if (alignment < sizeof(EarlyBlock)) alignment = sizeof(EarlyBlock);
  size_t whole = (bytes + sizeof(EarlyBlock) + 2 * alignment) & ~size_t{15};
  if (bytes > sizeof early_memory || whole > sizeof early_memory) return nullptr;
  size_t at = __atomic_fetch_add(&early_used, whole, __ATOMIC_RELAXED);
  if (at + whole > sizeof early_memory) return nullptr;
  auto address = reinterpret_cast<uintptr_t>(early_memory + at) + sizeof(EarlyBlock);
  address = (address + alignment - 1) & ~(alignment - 1);
  auto* block = reinterpret_cast<EarlyBlock*>(address) - 1;
  block->bytes = bytes;
  return block + 1;  // static memory: zeroed
}

size_t early_size(const void* block) { return (static_cast<const EarlyBlock*>(block) - 1)->bytes; }

}  // namespace penna::agent
