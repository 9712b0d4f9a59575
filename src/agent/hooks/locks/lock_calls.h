// SPDX-License-Identifier: MIT
// Lock functions of programs and libraries that are patched in place: what is known about them, and about this thread's
// calls of them that have not returned.
//
// Whatever such a function does inside, such as waiting for futexes or for the libc mutexes that it is made of, is part
// of the call and not recorded separately: hooks ask inside_lock_function().
// Invariant: a call that was left in any way (exception, cancellation, jump) does not stop the thread from recording:
// the stack pointer decides whether it is inside.
#pragma once

#include <stdint.h>

#include "agent/core/state.h"
#include "penna/channel.h"
#include "penna/patch_plan.h"

extern "C" __attribute__((visibility("hidden"))) void penna_enter_lock();

namespace penna::agent {

class NewModules;

// Part of the frame of penna_enter_lock (entered_locks_x86_64.S), which relies on the layout.
struct LockCall {
  uint64_t arguments[4];  // the first four; changing them has no effect
  uint64_t result, result2;
  uint64_t number;  // the function's number
  LockCall* outer;  // in the same thread; may be on another stack, or left already
  uint64_t lock;    // as in records
  uint64_t begin;
  uint64_t condition;
  const LockCall* self;  // intact as long as nothing else overwrites the frame
  uint32_t stack;
  uint32_t state;
};
static_assert(sizeof(LockCall) == 104);

// A call this much further up the stack, or on another stack, does not enclose the caller.
inline constexpr uintptr_t kMostInside = 64 << 10;

inline bool is_around_here(const LockCall* call) {
  const uintptr_t distance =
      reinterpret_cast<uintptr_t>(call) - reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return distance < kMostInside;
}
// Whether this thread is in a lock function that is recorded as a whole. Only call with kLockOptions.
inline bool inside_lock_function() {
  return __builtin_expect(thread.lock_call != nullptr, 0) && is_around_here(thread.lock_call);
}

// A jump leaves all calls that have not returned in this thread.
void leave_lock_calls();

// Called from enter_functions(), before lock functions are patched; in a forked child they already are. Returns whether
// to patch them.
bool start_lock_functions(const penna_config& config);

// Patches the lock functions in these modules, which this thread visits.
void enter_lock_functions(const NewModules& modules, penna_unless unless);
bool lock_functions_entered();
// The module that started here was unmapped.
void forget_lock_functions(uintptr_t module_start);

}  // namespace penna::agent
