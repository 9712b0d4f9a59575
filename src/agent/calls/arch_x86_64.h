// SPDX-License-Identifier: MIT
// x86-64 for src/agent/calls: the registers that calls_x86_64.S saves, and the code around hooks.
//
// Invariant: nothing here calls libc or touches errno.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/core/arch.h"

namespace penna::agent {

// What calls_x86_64.S saves of a function that is about to run, or has just returned, before it calls C++.
//
//   0         +--------------+-----+-----+----+----+--------+
//             | xmm0 to xmm7 | r11 | r10 | r9 | r8 |  rbp   |
//   104       +-----+-----+--+--+--+--+--+--+-+----+--------+--------+
//             | rdi | rsi | rdx | rcx | rax | way | resume | caller | memory of the caller: more arguments
//   168       +-----+-----+-----+-----+-----+-----+--------+--------+
//                                          `--- of a function that has run, the memory of the caller begins here
struct CallRegisters {
  uint64_t vector[8];  // the lower half of each
  uint64_t r11, r10, r9, r8;
  uint64_t rbp;  // of a function that is about to run and has not built a frame
  uint64_t rdi, rsi, rdx, rcx, rax;
  uint64_t way;
  uint64_t resume, caller;  // not valid for a function that has returned

  uint64_t frame_pointer() const { return rbp; }
  // An argument of a function that is about to run; 0: there is no such register.
  uint64_t integer(uint32_t number) const {
    const uint64_t all[] = {rdi, rsi, rdx, rcx, r8, r9};
    return number < 6 ? all[number] : 0;
  }
  // A result of a function that has returned.
  uint64_t result(uint32_t number) const { return number == 0 ? rax : number == 1 ? rdx : 0; }
  uint64_t in_vector(uint32_t number) const { return number < 8 ? vector[number] : 0; }
};
static_assert(sizeof(CallRegisters) == 168 && offsetof(CallRegisters, rdi) == 104);
static_assert(offsetof(CallRegisters, resume) == 152 && offsetof(CallRegisters, caller) == 160);

// r10 may be between the hook's return address and the function's: gcc saves the static chain register of a nested
// function around the hook. Only the code shows that; unwind information does not.
enum class Chain { kNone, kKept, kUnclear };
inline Chain chain_of(uintptr_t resume) {
  //    41 52      push %r10
  //    41 5a      pop %r10
  constexpr uint8_t kPush[2] = {0x41, 0x52}, kPop[2] = {0x41, 0x5a};
  // call rel32, or patched nops; call [rip + rel32]; movabs, call r10; the same relative to rip (-mcmodel=large).
  constexpr intptr_t kHookCalls[] = {5, 6, 13, 36};
  const auto* const code = reinterpret_cast<const uint8_t*>(resume);
  const auto holds = [](const uint8_t* at, const auto& bytes) {
    return __builtin_memcmp(at, bytes, sizeof bytes) == 0;
  };
  if (!holds(code, kPop)) return Chain::kNone;
  //    41 ff d2   call *%r10
  constexpr uint8_t kCallR10[3] = {0x41, 0xff, 0xd2};
  const bool by_register = holds(code - sizeof kCallR10, kCallR10);
  for (const intptr_t bytes : kHookCalls) {
    if (bytes > 6 && !by_register) break;  // may be in an unmapped page
    const uint8_t* call = code - bytes;
    if (holds(call - sizeof kPush, kPush)) return Chain::kKept;
    if (holds(call - sizeof kEntryMark, kEntryMark) && holds(call - sizeof kEntryMark - sizeof kPush, kPush))
      return Chain::kKept;
  }
  return Chain::kUnclear;
}

// libc's hook (glibc's sysdeps/x86_64/_mcount.S) loads the caller's address from where this hook finds it, and then
// calls the inner function. 0: the code looks different.
inline uintptr_t called_after(uintptr_t hook, const uint8_t* load, uintptr_t load_bytes) {
  constexpr uintptr_t kMost = 96, kCallBytes = 5;
  const auto* const code = reinterpret_cast<const uint8_t*>(hook);
  for (uintptr_t at = 0; at < kMost; ++at) {
    // The load, directly followed by a call: e8 rel32.
    const uint8_t* const call = code + at + load_bytes;
    if (__builtin_memcmp(code + at, load, load_bytes) != 0 || *call != 0xe8) continue;
    int32_t distance;
    __builtin_memcpy(&distance, call + 1, sizeof distance);
    return reinterpret_cast<uintptr_t>(call) + kCallBytes + static_cast<uintptr_t>(intptr_t{distance});
  }
  return 0;
}

inline uintptr_t called_by_mcount(uintptr_t hook) {
  constexpr uint8_t kAboveFrame[] = {0x48, 0x8b, 0x7d, 0x08};  // mov 8(%rbp), %rdi
  return called_after(hook, kAboveFrame, sizeof kAboveFrame);
}
inline uintptr_t called_by_fentry(uintptr_t hook) {
  constexpr uint8_t kAboveReturn[] = {0x48, 0x8b, 0x7c, 0x24, 0x48};  // mov 72(%rsp), %rdi
  return called_after(hook, kAboveReturn, sizeof kAboveReturn);
}

}  // namespace penna::agent
