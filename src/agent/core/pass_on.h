// SPDX-License-Identifier: MIT
// PENNA_PASS_ON: a function of the dynamic linker's in front of which we stand, and which looks at who calls it.
//
// Why assembly: it knows its caller by its return address. So ours must *jump* on, with the caller's return address on
// top of the stack and the arguments in place. x86-64.
// Invariant: whatever is jumped to finds the registers of up to three arguments, and the stack, as the caller has left
// them.
#pragma once

// Defines `name`, which goes on to the address that before(first, second, third, address of the return address) gives.
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
