// SPDX-License-Identifier: MIT
// Function entry and exit, from programs that were built with -finstrument-functions.
//
// libc defines both as empty functions, so such programs need no relinking: preloaded, ours come first.
// Invariant: nothing but writer.h's hot path runs, unless code was mapped since the start.
#include "agent/modules.h"
#include "agent/writer.h"

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))

namespace penna::agent {
namespace {

__attribute__((noinline)) void first_call_or_new_code(penna_tag tag, void* function) {
  if (!recording(PENNA_CALLS)) return;
  auto pc = reinterpret_cast<uintptr_t>(function);
  if ((armed() & kCheckModules) != 0) ensure_module(pc);
  write_call(tag, pc);
}

__attribute__((always_inline)) inline void call(penna_tag tag, void* function) {
  uint32_t bits = armed();
  if (__builtin_expect((bits & (kStarted | kCheckModules | class_bit(PENNA_CALLS))) !=
                           (kStarted | class_bit(PENNA_CALLS)),
                       0)) {
    if ((bits & (kStarted | class_bit(PENNA_CALLS))) == kStarted) return;
    return first_call_or_new_code(tag, function);
  }
  write_call(tag, reinterpret_cast<uintptr_t>(function));
}

}  // namespace
}  // namespace penna::agent

PENNA_EXPORT void __cyg_profile_func_enter(void* function, void*) { penna::agent::call(PENNA_TAG_ENTRY, function); }

PENNA_EXPORT void __cyg_profile_func_exit(void* function, void*) { penna::agent::call(PENNA_TAG_EXIT, function); }
