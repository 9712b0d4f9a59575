// SPDX-License-Identifier: MIT
// See allocators.h.
#include "agent/hooks/alloc/allocators.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sys/auxv.h>

#include "agent/core/attachment.h"
#include "agent/core/pages.h"
#include "agent/core/state.h"
#include "agent/core/text.h"
#include "agent/hooks/alloc/entered_allocators.h"
#include "agent/hooks/alloc/thread_cache.h"
#include "agent/modules/dynamic_symbols.h"
#include "agent/modules/loader.h"
#include "agent/modules/modules.h"
#include "agent/modules/new_modules.h"
#include "agent/modules/real.h"
#include "agent/patch/call_patches.h"
#include "agent/stacks/stacks.h"
#include "unwind/program_headers.h"

namespace penna::agent {
namespace {

uintptr_t entered_modules[kMostAllocators];  // start of the module that uses this set of hooks; 0: unused

bool layered;  // is_layered()

enum class Part : uint8_t { kNothing, kNotReplaced, kAll };

bool is_system_part(const link_map& map, const ModuleFacts& module) {
  return is_ours(&map) || map.l_addr == static_cast<uintptr_t>(_r_debug.r_ldbase) ||
         getauxval(AT_SYSINFO_EHDR) == module.start;
}

// Whether it has memory without requesting any: at least a page of zero-initialised data, from which blocks can be cut.
// True also if that is unknown.
bool has_zeroed_pages(const ModuleFacts& module) {
  const unwind::ProgramHeaders headers = unwind::program_headers_at(module.start);
  for (const ElfW(Phdr) & segment : headers)
    if (segment.p_type == PT_LOAD && segment.p_memsz - segment.p_filesz >= kPageBytes) return true;
  return headers.count == 0;
}

// Whether a library that exports no allocator may contain one: it imports none, and has its own memory.
bool may_hide_allocator(const DynamicSymbols& symbols, const ModuleFacts& module) {
  if (symbols.imports("malloc") || symbols.imports("free")) return false;
  constexpr const char* kSources[] = {"mmap", "mmap64", "sbrk", "brk", "syscall"};
  for (const char* source : kSources)
    if (symbols.imports(source)) return true;
  return has_zeroed_pages(module);
}

// Whether it has its own interface, which does not go through malloc.
bool shows_native_interface(const DynamicSymbols& symbols) {
  constexpr const char* kNames[] = {"mallocx", "mi_malloc", "tc_malloc", "je_malloc", "_rjem_malloc"};
  for (const char* name : kNames)
    if (symbols.find(name).address != 0) return true;
  return false;
}

// The runtime of a sanitizer may have to come first (penna/detail/preload.h).
bool precedes_agent(const link_map& map) {
  const link_map* const ours = our_map();
  for (const link_map* other = &map; other != nullptr; other = other->l_next)
    if (other == ours) return true;
  return false;
}

constexpr char kInstallHooks[] = "__sanitizer_install_malloc_and_free_hooks";
bool sanitizer_reports;

// Which functions of a module to patch. In the program: all, exported or not, because the recorder knows its symbols.
// The same in a library before the agent from which the program gets its malloc. In a linked library after the agent:
// those that are not interposed, because its malloc is what the agent's calls; but all if one address serves as
// operator delete and free. In a library that was opened: all, because nothing in the agent calls its malloc. If the
// agent was loaded too late to interpose any: all of every library, libc included.
Part part_to_enter(const link_map& map, const ModuleFacts& module) {
  if (sanitizer_reports && DynamicSymbols(map).find(kInstallHooks).address != 0) return Part::kNothing;
  if (&map == _r_debug.r_map) return Part::kAll;
  if (is_system_part(map, module)) return Part::kNothing;
  const DynamicSymbols symbols(map);
  const bool shows_one = symbols.find("malloc").address != 0, is_native = shows_native_interface(symbols);
  if (!shows_one) return is_native || may_hide_allocator(symbols, module) ? Part::kAll : Part::kNothing;
  if (!module.stays || precedes_agent(map) || attachment != nullptr) return Part::kAll;
  if (!is_native && symbols.find("_Znwm").address == 0 && symbols.find("free_sized").address == 0)
    return Part::kNothing;
  return symbols.find("free").address == symbols.find("_ZdlPv").address ? Part::kAll : Part::kNotReplaced;
}

// A set of hooks for the module; kMostAllocators: none is left.
uint32_t claim_hooks(const ModuleFacts& module) {
  // Relaxed: the start of the module is all that is handed over.
  for (uint32_t set = 0; set < kMostAllocators; ++set) {
    uintptr_t nobody = 0;
    if (__atomic_compare_exchange_n(&entered_modules[set], &nobody, module.start, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
      return set;
  }
  return kMostAllocators;
}

// Allocators that programs link: calls of their own functions through the dynamic linker are not part of a hook's call.
bool is_known_allocator(const link_map& map) {
  const char* const name = file_name(map.l_name);
  return text_begins(name, "libjemalloc", 11) || text_begins(name, "libtcmalloc", 11) ||
         text_begins(name, "libmimalloc", 11);
}

// Whether the hooks call another library than libc, for example one that was preloaded to count or to check. Its
// functions may call each other through the dynamic linker, and thus the hooks again.
bool is_layered() {
  const link_map* libc = libc_map();
  const uintptr_t functions[] = {
      reinterpret_cast<uintptr_t>(real.malloc),         reinterpret_cast<uintptr_t>(real.calloc),
      reinterpret_cast<uintptr_t>(real.realloc),        reinterpret_cast<uintptr_t>(real.free),
      reinterpret_cast<uintptr_t>(real.posix_memalign), reinterpret_cast<uintptr_t>(real.memalign),
      reinterpret_cast<uintptr_t>(real.aligned_alloc)};
  for (const uintptr_t function : functions) {
    const link_map* map = map_of(function);
    if (map != nullptr && map != libc && !is_known_allocator(*map)) return true;
  }
  return false;
}

bool any_entered() {
  if (layered) return true;
  for (const uintptr_t& module : entered_modules)
    if (__atomic_load_n(&module, __ATOMIC_RELAXED) != 0) return true;
  return false;
}

void note_entered(bool entered) {
  if (entered)
    __atomic_fetch_or(&process.alloc_options, kAllocatorsEntered, __ATOMIC_RELAXED);
  else
    __atomic_fetch_and(&process.alloc_options, ~kAllocatorsEntered, __ATOMIC_RELAXED);
}

// Asks about the same functions, so that the recording names those that the module has.
void report_refused(const ModuleFacts& module, Part part, penna_unless unless) {
  const EnteredFunctions functions = entered_functions(0, part == Part::kAll);
  enter_instead(module, functions.first(), functions.count, functions.originals, unless);
}

// Every allocator that serves other code has one of these. Asked first if nothing shows whether there is an allocator:
// hardly any program brings its own, and a question for every possible function would take longer than the rest of the
// start.
bool may_have_allocator(const ModuleFacts& module) {
  constexpr const char* kNames[] = {"malloc",     "dallocx",       "sdallocx",        "mi_free",
                                    "mi_cfree",   "mi_free_size",  "mi_free_aligned", "mi_free_size_aligned",
                                    "tc_free",    "tc_cfree",      "tc_free_sized",   "tc_delete",
                                    "je_free",    "je_dallocx",    "je_sdallocx",     "je_free_sized",
                                    "_rjem_free", "_rjem_dallocx", "_rjem_sdallocx",  "_rjem_free_sized"};
  return has_any_function(module, kNames, sizeof kNames / sizeof kNames[0]);
}

void enter(const ModuleFacts& module, Part part, penna_unless unless) {
  if (part == Part::kAll && !may_have_allocator(module)) return;
  if (unless != PENNA_UNLESS_NOTHING) return report_refused(module, part, unless);
  const uint32_t set = claim_hooks(module);
  if (set == kMostAllocators) return report_refused(module, part, PENNA_UNLESS_FULL);
  note_entered(true);  // before the first call: another thread may be in one as soon as it leads to the hook
  const EnteredFunctions functions = entered_functions(set, part == Part::kAll);
  const EnterInstead done = enter_instead(module, functions.first(), functions.count, functions.originals, unless);
  // Nothing leads to the set's hooks, so the next module may have it.
  if (done != EnterInstead::kEntered) __atomic_store_n(&entered_modules[set], 0, __ATOMIC_RELAXED);
  note_entered(any_entered());
  if (done == EnterInstead::kNotUnderThreads) report_refused(module, part, PENNA_UNLESS_RUNNING);
}

// A sanitizer's allocator calls the agent itself, after it has determined its caller: so its reports do not mention the
// agent, and the recording does not contain its library's own blocks. A forked child inherits the registration.
void listen_to_sanitizer(bool allocations) {
  const DynamicSymbols::Found install = first_definition(kInstallHooks);
  dl_find_object runtime;
  if (install.address == 0 || _dl_find_object(reinterpret_cast<void*>(install.address), &runtime) != 0) return;
  // A runtime that is linked into the program has no separate range that could be left out.
  if (runtime.dlfo_link_map != _r_debug.r_map)
    leave_out_of_stacks(reinterpret_cast<uintptr_t>(runtime.dlfo_map_start),
                        reinterpret_cast<uintptr_t>(runtime.dlfo_map_end));
  if (sanitizer_reports || !allocations) return;
  using OnAllocated = void (*)(const volatile void*, size_t);
  using RecordedFree = void (*)(const volatile void*);
  sanitizer_reports =
      reinterpret_cast<int (*)(OnAllocated, RecordedFree)>(install.address)(sanitizer_allocated, sanitizer_frees) != 0;
}

}  // namespace

bool start_allocators(const penna_config& config, bool forked) {
  const bool wanted = (config.classes & class_bit(PENNA_ALLOC)) != 0 && (config.plans & PENNA_PLANS_ALLOCATORS) != 0;
  thread.in_allocator = 0;
  if (!forked) listen_to_sanitizer((config.classes & class_bit(PENNA_ALLOC)) != 0);
  layered = (config.classes & class_bit(PENNA_ALLOC)) != 0 && is_layered();
  if (layered) note_entered(true);
  if (wanted && forked) note_entered(any_entered());
  if (wanted) look_for_thread_cache();
  return wanted;
}

void enter_allocators(const NewModules& modules, penna_unless unless) {
  for (uint32_t i = 0; i < modules.count(); ++i) {
    const link_map* map = map_of(modules[i].start);
    const Part part = map != nullptr ? part_to_enter(*map, modules[i]) : Part::kNothing;
    if (part != Part::kNothing) enter(modules[i], part, unless);
  }
}

void forget_allocator(uintptr_t module_start) {
  for (uintptr_t& module : entered_modules)
    if (__atomic_load_n(&module, __ATOMIC_RELAXED) == module_start) __atomic_store_n(&module, 0, __ATOMIC_RELAXED);
}

}  // namespace penna::agent
