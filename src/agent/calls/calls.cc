// SPDX-License-Identifier: MIT
// Entry and exit of functions in programs that are built with -finstrument-functions.
//
// libc defines both hooks as empty functions, so such programs need no relinking: the agent's, when preloaded, take
// precedence. Compiled without frame pointers and with tail calls: the hot path does not touch the stack.
// Invariant: only writer.h's hot path runs, unless code was mapped since the start, stacks of functions are wanted, or
// other hooks are in use, too.
#include "agent/calls/call_values.h"
#include "agent/core/return_trampolines.h"
#include "agent/core/writer.h"
#include "agent/modules/modules.h"

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))

namespace penna::agent {
namespace {

// The slow path: the agent has not started, calls are not recorded, or one of the invariant's exceptions holds.
// `resume`: where the function continues; `caller`: where it returns to.
__attribute__((noinline, cold)) void call_with_care(void* function, penna_tag tag, void* resume, void* caller) {
  if (!recording(PENNA_CALLS)) return;
  auto pc = reinterpret_cast<uintptr_t>(function);
  if (is_entered_already(pc, reinterpret_cast<uintptr_t>(caller))) return;
  ensure_module(pc);
  write_call(pc, tag);
  if (tag == PENNA_TAG_ENTRY) write_callers(pc, reinterpret_cast<uintptr_t>(resume), *unwind::HookFrame::here());
}

__attribute__((always_inline)) inline void call(void* function, penna_tag tag, void* resume, void* caller) {
  // One load checks the whole invariant: kCallsAtOnce is cleared before any part of it stops being true.
  const uint32_t bits = armed();
  if (__builtin_expect((bits & kCallsAtOnce) == 0, 0)) {
    if ((bits & (kStarted | class_bit(PENNA_CALLS))) == kStarted)
      return;  // calls are not recorded; tested here, where it costs no jump
    return call_with_care(function, tag, resume, caller);
  }
  write_call(reinterpret_cast<uintptr_t>(function), tag);
}

}  // namespace
}  // namespace penna::agent

PENNA_EXPORT void __cyg_profile_func_enter(void* function, void* caller) {
  penna::agent::call(function, PENNA_TAG_ENTRY, __builtin_return_address(0), caller);
}

PENNA_EXPORT void __cyg_profile_func_exit(void* function, void* caller) {
  penna::agent::call(function, PENNA_TAG_EXIT, __builtin_return_address(0), caller);
}
