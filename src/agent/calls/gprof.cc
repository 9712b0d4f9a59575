// SPDX-License-Identifier: MIT
// See gprof.h.
#include "agent/calls/gprof.h"

#include <dlfcn.h>
#include <stdint.h>

#include "agent/calls/arch.h"
#include "agent/core/state.h"
#include "agent/modules/dynamic_symbols.h"
#include "agent/modules/loader.h"

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))

extern "C" {
// Read by gprof_x86_64.S. The first two are null unless the program counts.
__attribute__((visibility("hidden"))) uintptr_t penna_libc_fentry;
__attribute__((visibility("hidden"))) uintptr_t penna_libc_mcount;
__attribute__((visibility("hidden"))) uintptr_t penna_count_arc;
}

namespace penna::agent {
namespace {

// The inner function of libc's hooks; 0: not found.
uintptr_t inner_function(uintptr_t mcount, uintptr_t fentry) {
  const uintptr_t one = called_by_mcount(mcount);
  return one == called_by_fentry(fentry) && map_of(one) == map_of(mcount) ? one : 0;
}

using Monstartup = void (*)(unsigned long, unsigned long);
void go_on(const char* name, unsigned long low, unsigned long high) {
  if (const auto libcs = reinterpret_cast<Monstartup>(first_definition(name).address)) libcs(low, high);
}

}  // namespace

void begin_to_count_for_gprof() {
  if (counts_for_gprof()) return;
  const uintptr_t mcount = first_definition("mcount").address, fentry = first_definition("__fentry__").address;
  if (mcount == 0 || fentry == 0) return;
  penna_count_arc = inner_function(mcount, fentry);
  if (penna_count_arc == 0) count(&penna_counters::functions_refused);
  penna_libc_fentry = fentry;
  // Release: pairs with the acquire in counts_for_gprof().
  __atomic_store_n(&penna_libc_mcount, mcount, __ATOMIC_RELEASE);
}

bool counts_for_gprof() { return __atomic_load_n(&penna_libc_mcount, __ATOMIC_ACQUIRE) != 0; }

}  // namespace penna::agent

// Called before main by what -pg links, or directly by the program.
PENNA_EXPORT void __monstartup(unsigned long low, unsigned long high) {
  penna::agent::begin_to_count_for_gprof();
  penna::agent::go_on("__monstartup", low, high);
}
PENNA_EXPORT void monstartup(unsigned long low, unsigned long high) {
  penna::agent::begin_to_count_for_gprof();
  penna::agent::go_on("monstartup", low, high);
}
