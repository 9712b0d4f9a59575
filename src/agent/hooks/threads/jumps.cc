// SPDX-License-Identifier: MIT
// Jumps to another place of the stack, or to another stack: calls are left without an exit, or continue without an
// entry. Reported to the channel while calls are recorded; nothing else changes.
//
// Invariant: functions that save the current place (setjmp, getcontext, swapcontext) are reached by a jump, with the
// caller's own registers, stack and return address: that is what they save (jumps_x86_64.S). The caller may return to
// that place as long as it has not returned itself; a frame of ours below it would be overwritten by then.
#include "agent/core/writer.h"
#include "agent/hooks/locks/lock_calls.h"
#include "agent/modules/real.h"

#define PENNA_EXPORT extern "C" __attribute__((visibility("default")))

namespace penna::agent {
namespace {

void record_jump(penna_jump_what what, const void* buffer, const void* other) {
  if (!recording(PENNA_CALLS)) return;
  const penna_jump jump{reinterpret_cast<uintptr_t>(buffer), reinterpret_cast<uintptr_t>(other), what, 0};
  write_record(PENNA_KIND_JUMP, jump, kNoClass, penna_now());
}

// Ends the patched lock functions and allocators that this thread is in: they are left for good, or wait on a stack
// that is being left.
void leave_entered() {
  thread.in_allocator = 0;
  leave_lock_calls();
}

const RealFunctions& ready() {
  if (real.setjmp == nullptr) resolve_real_functions();
  return real;
}

}  // namespace

// Called by jumps_x86_64.S: reports, and returns the function to jump to.
extern "C" {
#define PENNA_SAVES(name)                                                                           \
  __attribute__((visibility("hidden"), used)) void* penna_agent_before_##name(const void* buffer) { \
    record_jump(PENNA_JUMP_SAVE, buffer, nullptr);                                                  \
    return reinterpret_cast<void*>(ready().name);                                                   \
  }
PENNA_SAVES(setjmp)
PENNA_SAVES(_setjmp)
PENNA_SAVES(__sigsetjmp)
PENNA_SAVES(getcontext)

// Inside a patched lock function or allocator, which goes on when this context does.
__attribute__((visibility("hidden"))) int penna_agent_swap_inside(ucontext_t* from, const ucontext_t* to) {
  const uint32_t in_allocator = thread.in_allocator;
  LockCall* const lock_call = thread.lock_call;
  thread.in_allocator = 0;
  thread.lock_call = nullptr;
  const int answer = ready().swapcontext(from, to);
  thread.in_allocator = in_allocator;  // of whichever thread that is now
  thread.lock_call = lock_call;
  return answer;
}
__attribute__((visibility("hidden"), used)) void* penna_agent_before_swapcontext(const ucontext_t* from,
                                                                                 const ucontext_t* to) {
  record_jump(PENNA_JUMP_SWITCH, to, from);
  const bool is_inside = thread.in_allocator != 0 || thread.lock_call != nullptr;
  return reinterpret_cast<void*>(is_inside ? &penna_agent_swap_inside : ready().swapcontext);
}

// Its variable arguments are passed on to the function that it sets up: so it is reached by a jump, too.
__attribute__((visibility("hidden"), used)) void* penna_agent_before_makecontext(const ucontext_t* context) {
  record_jump(PENNA_JUMP_MAKE, context, context->uc_link);
  return reinterpret_cast<void*>(ready().makecontext);
}
}

}  // namespace penna::agent

using namespace penna::agent;

#define PENNA_GOES(name)                                     \
  PENNA_EXPORT void name(__jmp_buf_tag* buffer, int value) { \
    record_jump(PENNA_JUMP_GO, buffer, nullptr);             \
    leave_entered();                                         \
    ready().name(buffer, value);                             \
    __builtin_unreachable();                                 \
  }
PENNA_GOES(longjmp)
PENNA_GOES(_longjmp)
PENNA_GOES(siglongjmp)
PENNA_GOES(__longjmp_chk)

PENNA_EXPORT int setcontext(const ucontext_t* context) {
  record_jump(PENNA_JUMP_GO, context, nullptr);
  leave_entered();
  return ready().setcontext(context);
}
