// SPDX-License-Identifier: MIT
// x86-64 for src/agent/patch. Calls with a four-byte displacement, as compilers and stubs emit them, and how they are
// silenced by changing their first byte (Intel SDM, volume 2):
//
//   e8 rel32      call rel32           ->  a9 imm32      test eax, imm32
//   ff 15 rel32   call [rip + rel32]   ->  3b 15 rel32   cmp edx, [rip + rel32]
//
// Invariant: the flags carry no value where a function begins, nor where it calls.
#pragma once

#include <cpuid.h>
#include <stdint.h>

namespace penna::agent {

// What points_x86_64.S saves vector registers with.
inline bool has_xsave() {
  unsigned a, b, c, d;
  constexpr unsigned kOsXsave = 1u << 27;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & kOsXsave) != 0;
}

inline constexpr uintptr_t kLongestCall = 6;

// The call instruction that ends at a given address.
struct SilentCall {
  enum Is : uint8_t { kCall, kSilent, kNeither } is;
  uintptr_t at;  // kCall: where storing `byte` turns it into an instruction without effect
  uint8_t byte;
};

// The `kLongestCall` bytes before `resume` must be readable.
inline SilentCall silent_call(uintptr_t resume) {
  constexpr uint8_t kCall = 0xe8, kTest = 0xa9, kCallThrough[] = {0xff, 0x15}, kCompare = 0x3b;
  const auto* before = reinterpret_cast<const uint8_t*>(resume);
  if (before[-5] == kCallThrough[1] && before[-6] == kCallThrough[0]) return {SilentCall::kCall, resume - 6, kCompare};
  if (before[-5] == kCall) return {SilentCall::kCall, resume - 5, kTest};
  const bool was = before[-5] == kTest || (before[-5] == kCallThrough[1] && before[-6] == kCompare);
  return {was ? SilentCall::kSilent : SilentCall::kNeither, 0, 0};
}

// The target of the call that ends at `resume`, or the address of the pointer that it calls through.
inline uintptr_t call_refers_to(uintptr_t resume) {
  int32_t distance;
  __builtin_memcpy(&distance, reinterpret_cast<const uint8_t*>(resume) - sizeof distance, sizeof distance);
  return resume + static_cast<uintptr_t>(intptr_t{distance});
}

}  // namespace penna::agent
