// SPDX-License-Identifier: MIT
// Locks that programs and libraries bring, whose functions are entered where they lie: what is known of these, and of
// the calls of them that go on in this thread.
//
// What such a function does inside, waits for futexes, mutexes of libc that it is made of, is part of it and not told
// besides: hooks ask inside_lock_function().
// Invariant: a call that was left in any way (an exception, a cancellation, a jump) silences nobody: what is asked is
// where the stack is.
#pragma once

#include <stdint.h>

#include "agent/core/state.h"
#include "penna/channel.h"
#include "penna/patch_plan.h"

extern "C" __attribute__((visibility("hidden"))) void penna_enter_lock();

namespace penna::agent {

class NewModules;

// Lies in the frame of penna_enter_lock (entered_locks_x86_64.S), which knows its layout.
struct LockCall {
  uint64_t arguments[4];  // the first; changing them changes nothing
  uint64_t result, result2;
  uint64_t number;  // of the function
  LockCall* outer;  // of this thread; on another stack, or left
  uint64_t lock;    // as in records
  uint64_t begin;
  uint64_t condition;
  const LockCall* self;  // as long as nothing else is written here
  uint32_t stack;
  uint32_t state;
};
static_assert(sizeof(LockCall) == 104);

// A call that is this much further up the stack than who asks, or on another one, is not what he is inside of.
inline constexpr uintptr_t kMostInside = 64 << 10;

inline bool is_around_here(const LockCall* call) {
  const uintptr_t distance =
      reinterpret_cast<uintptr_t>(call) - reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return distance < kMostInside;
}
// Is the lock function told that this thread is in? Asked with kLockOptions only.
inline bool inside_lock_function() {
  return __builtin_expect(thread.lock_call != nullptr, 0) && is_around_here(thread.lock_call);
}

// A jump leaves all calls that go on in this thread.
void leave_lock_calls();

// Called from enter_functions(); functions are entered behind it, but in a forked child, where they are already. Gives
// whether they shall be.
bool start_lock_functions(const penna_config& config);

// Those of these modules, which this thread visits.
void enter_lock_functions(const NewModules& modules, penna_unless unless);
bool lock_functions_entered();
// The module that began here was unmapped.
void forget_lock_functions(uintptr_t module_start);

}  // namespace penna::agent
