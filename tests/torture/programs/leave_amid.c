/* SPDX-License-Identifier: MIT
 * A recorder leaves while the program walks its stack: it puts back the return addresses that the unwinder has found,
 * and not yet used. Here the program does so itself, at the worst moment. It has an unwinder of its own, from which the
 * trampolines are not hidden. Prints how many of its callers it has found. */
#include <stdint.h>
#include <unwind.h>

#include "torture.h"

enum { kDepth = 5 };
static uintptr_t outermost;

static NOINLINE int fall(int depth);

/* What a trampoline begins with, and what lies in it (src/agent/calls/calls_x86_64.S). */
__attribute__((no_instrument_function)) static int is_trampoline(uintptr_t address) {
  static const unsigned char call[] = {0xff, 0x54, 0x24, 0xf0, 0xe9};
  return address != 0 && memcmp((const void*)(address & ~(uintptr_t)15), call, sizeof call) == 0;
}
__attribute__((no_instrument_function)) static uintptr_t caller_of(uintptr_t address) {
  const uintptr_t at = (address & ~(uintptr_t)15) + 12;
  return *(uintptr_t*)(at + *(uint32_t*)at);
}

__attribute__((no_instrument_function)) static _Unwind_Reason_Code step(struct _Unwind_Context* context, void* into) {
  const uintptr_t pc = _Unwind_GetIP(context);
  if (is_trampoline(pc))
    for (uintptr_t* at = __builtin_frame_address(0); (uintptr_t)at < outermost; at++)
      if (*at == pc) *at = caller_of(pc);
  *(int*)into += pc - (uintptr_t)fall < 256;
  return _URC_NO_REASON;
}

static NOINLINE int fall(int depth) {
  int found = 0;
  if (depth == 0)
    _Unwind_Backtrace(step, &found);
  else
    found = fall(depth - 1);
  __asm__ volatile("" : "+r"(found));
  return found;
}

int main(void) {
  outermost = (uintptr_t)__builtin_frame_address(0);
  work(3);
  const int found = fall(kDepth);
  printf("%d callers\n", found);
  return found == kDepth + 1 ? 0 : 1;
}
