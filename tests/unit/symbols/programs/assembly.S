// SPDX-License-Identifier: MIT
// Symbols that only assembly has: no type, no size, labels inside functions, a hole, SDT notes.
#if defined(__x86_64__)
  .text
  .globl sized
  .type sized, @function
sized:
  nop
inner_label:                       // inside a sized function: not a name of its own
  nop
  nop
  ret
  .size sized, . - sized
  .fill 16, 1, 0xcc                // belongs to nobody, but untyped_label follows
untyped_label:                     // no type, no size: up to the next symbol
  nop
  ret
  .type sizeless, @function
sizeless:                          // typed, no size: up to the next symbol
  nop
  nop
  ret
  .globl outer
  .type outer, @function
outer:
  nop
  .globl nested                    // a second, sized entry point inside
  .type nested, @function
nested:
  nop
  nop
  .size nested, 2
  nop
  ret
  .size outer, . - outer
  .globl main
  .type main, @function
main:
  xorl %eax, %eax
  .globl probe_here
probe_here:
  nop
  ret
  .size main, . - main

  .section .note.stapsdt, "", @note
  .balign 4
  .4byte 8, 2f - 1f, 3
  .asciz "stapsdt"
1: .8byte probe_here
  .8byte _.stapsdt.base
  .8byte semaphore_here
  .asciz "penna_test"
  .asciz "hit"
  .asciz "-4@%eax 8@-8(%rbp)"
2: .balign 4
  .section .stapsdt.base, "aG", "progbits", .stapsdt.base, comdat
  .weak _.stapsdt.base
  .hidden _.stapsdt.base
_.stapsdt.base: .space 1
  .size _.stapsdt.base, 1
  .section .probes, "aw"
  .globl semaphore_here
  .type semaphore_here, @object
semaphore_here: .2byte 0
  .size semaphore_here, 2
#endif
  .section .note.GNU-stack, "", @progbits
