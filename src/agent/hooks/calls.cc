// SPDX-License-Identifier: MIT
// Function entry and exit, from programs that were built with -finstrument-functions.
//
// libc defines both as empty functions, so such programs need no relinking: preloaded, ours come first.
// Compiled without frame pointers and with tail calls: the hot path touches no stack.
// Invariant: nothing but writer.h's hot path runs, unless code was mapped since the start.
#include "agent/modules.h"
#include "agent/writer.h"

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))

namespace penna::agent {
namespace {

// The agent has not started, is not wanted, or code was mapped since the start.
__attribute__((noinline, cold)) void call_with_care(void* function, penna_tag tag) {
  if (!recording(PENNA_CALLS)) return;
  auto pc = reinterpret_cast<uintptr_t>(function);
  ensure_module(pc);
  write_call(pc, tag);
}

__attribute__((always_inline)) inline void call(void* function, penna_tag tag) {
  const uint32_t bits = armed();
  if (__builtin_expect((bits & kCallsAtOnce) == 0, 0)) {
    if (bits == kStarted) return;  // no recorder: here, so that it costs no jump
    return call_with_care(function, tag);
  }
  write_call(reinterpret_cast<uintptr_t>(function), tag);
}

}  // namespace
}  // namespace penna::agent

PENNA_EXPORT void __cyg_profile_func_enter(void* function, void*) { penna::agent::call(function, PENNA_TAG_ENTRY); }

PENNA_EXPORT void __cyg_profile_func_exit(void* function, void*) { penna::agent::call(function, PENNA_TAG_EXIT); }
