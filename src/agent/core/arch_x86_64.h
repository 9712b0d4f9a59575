// SPDX-License-Identifier: MIT
// x86-64. References: System V ABI for x86-64, table 4.9 (relocations); Intel SDM, vol. 2.
//
// Invariant: nothing here calls libc or touches errno.
#pragma once

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

// The version of glibc's oldest symbols on this processor. Undefined on processors that glibc supports only since after
// the versions that matter to us.
#define PENNA_FIRST_GLIBC "GLIBC_2.2.5"

namespace penna::agent {

inline constexpr unsigned kMachine = EM_X86_64;
inline constexpr unsigned kJumpSlot = R_X86_64_JUMP_SLOT, kGlobDat = R_X86_64_GLOB_DAT, kWord = R_X86_64_64;

// endbr64, which may be the first instruction of a function.
inline constexpr uint8_t kEntryMark[4] = {0xf3, 0x0f, 0x1e, 0xfa};
inline uintptr_t after_mark(uintptr_t function) {
  const auto* code = reinterpret_cast<const volatile uint8_t*>(function);
  for (size_t i = 0; i < sizeof kEntryMark; ++i)
    if (code[i] != kEntryMark[i]) return function;
  return function + sizeof kEntryMark;
}

// The function that a direct call (e8 rel32) calls; `resume`: its return address, after five bytes of code or more. 0:
// there is no such call before it.
inline uintptr_t called_before(uintptr_t resume) {
  constexpr uint8_t kCall = 0xe8;
  const auto* const code = reinterpret_cast<const uint8_t*>(resume);
  int32_t distance;
  if (code[-5] != kCall) return 0;
  __builtin_memcpy(&distance, code - sizeof distance, sizeof distance);
  return resume + static_cast<uintptr_t>(intptr_t{distance});
}

// rep movsb and rep stosb: faster than our own loops above about a hundred bytes.
inline void copy_many(uint8_t* to, const uint8_t* from, size_t bytes) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}
inline void fill_many(uint8_t* to, int value, size_t bytes) {
  asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
}

}  // namespace penna::agent

// ---- PENNA_PASS_ON: interpose a dynamic linker function that looks at its caller ------------------------------
//
// Why assembly: such a function identifies its caller by its return address. So our wrapper must *jump* to it, with the
// caller's return address on top of the stack and the arguments in place.
// Invariant: the function sees up to three argument registers, and the stack, exactly as the caller left them.

// Defines `name`, which jumps to the address that before(first, second, third, address of the return address) returns.
#define PENNA_PASS_ON(name, before)        \
  __asm__(                                 \
      ".text\n"                            \
      ".globl " #name                      \
      "\n"                                 \
      ".type " #name ", @function\n" #name \
      ":\n"                                \
      "  .cfi_startproc\n"                 \
      "  endbr64\n"                        \
      "  push %rdi\n"                      \
      "  .cfi_adjust_cfa_offset 8\n"       \
      "  push %rsi\n"                      \
      "  .cfi_adjust_cfa_offset 8\n"       \
      "  push %rdx\n"                      \
      "  .cfi_adjust_cfa_offset 8\n"       \
      "  lea 24(%rsp), %rcx\n"             \
      "  call " #before                    \
      "\n"                                 \
      "  pop %rdx\n"                       \
      "  .cfi_adjust_cfa_offset -8\n"      \
      "  pop %rsi\n"                       \
      "  .cfi_adjust_cfa_offset -8\n"      \
      "  pop %rdi\n"                       \
      "  .cfi_adjust_cfa_offset -8\n"      \
      "  jmp *%rax\n"                      \
      "  .cfi_endproc\n"                   \
      ".size " #name ", . - " #name "\n")
