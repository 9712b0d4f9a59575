/* SPDX-License-Identifier: MIT
 *
 * sdt_asm.h: the assembly of an SDT probe: its nop, its note, the section that undoes prelinking, its semaphore.
 *
 *   .text            nop                                                <- the address in the note
 *   .note.stapsdt    8, bytes, 3, "stapsdt", {nop, base, semaphore or 0}, provider, name, "-4@%rdi 8@$5"
 *   .stapsdt.base    one byte, once per module
 *   .probes          the semaphore: 16 bits that a tool increments in memory while it is attached
 *
 * The note goes where the function goes (flags o and ?): COMDAT, --gc-sections. Invariant: operands are constants and
 * registers, or what PENNA_SDT_ARG_CONSTRAINT asks for; no float marker; see PENNA_SDT_OPERAND.
 */
#ifndef PENNA_DETAIL_SDT_ASM_H
#define PENNA_DETAIL_SDT_ASM_H

#include "penna/arch/point.h"
#include "penna/detail/each.h"

#ifdef PENNA_ARCH_HAS_SDT

#ifndef PENNA_SDT_ARG_CONSTRAINT
#define PENNA_SDT_ARG_CONSTRAINT PENNA_SDT_OPERAND
#endif

/* clang-format off */
#ifdef PENNA_POINT_NOP10
#define PENNA_ASM_PROBE_TAIL PENNA_ASM_PROBE_NOP10
#else
#define PENNA_ASM_PROBE_TAIL
#endif

/* `semaphore`: the symbol's name as a string, or "0"; `args`: directives that emit the text of the arguments. */
#define PENNA_ASM_PROBE(provider, name, semaphore, args)                                                             \
  ".Lpenna_probe_%=: " PENNA_ASM_PROBE_NOP PENNA_ASM_PROBE_TAIL                                                      \
  PENNA_ASM_KEEP("_.stapsdt.base")                                                                                   \
  ".pushsection .note.stapsdt,\"o?\",%%note,.Lpenna_probe_%=\n"                                                      \
  ".balign 4\n"                                                                                                      \
  ".4byte 8, 992f - 991f, 3\n"                                                                                       \
  ".asciz \"stapsdt\"\n"                                                                                             \
  "991: " PENNA_ASM_POINTER ".Lpenna_probe_%=, _.stapsdt.base, " semaphore "\n"                                      \
  ".asciz \"" provider "\"\n"                                                                                        \
  ".asciz \"" name "\"\n"                                                                                            \
  args ".byte 0\n"                                                                                                   \
  "992: .balign 4\n"                                                                                                 \
  ".popsection\n"                                                                                                    \
  ".ifndef _.stapsdt.base\n"                                                                                         \
  ".pushsection .stapsdt.base,\"aG\",%%progbits,.stapsdt.base,comdat\n"                                              \
  ".weak _.stapsdt.base\n"                                                                                           \
  ".hidden _.stapsdt.base\n"                                                                                         \
  "_.stapsdt.base: .space 1\n"                                                                                       \
  ".size _.stapsdt.base, 1\n"                                                                                        \
  ".popsection\n"                                                                                                    \
  ".endif\n"

/* "-4@%rdi": of a scalar. Of a struct (PENNA_SDT only) the operand holds its address: "24@(%rdi)". */
#define PENNA_ASM_SDT_ARG(i, unused) ".ascii \"%c[size" #i "]@%" PENNA_SDT_NAME "[arg" #i "]\"\n"
#define PENNA_ASM_SDT_ANY_ARG(i, unused)                                                                             \
  ".ifeq %c[structs] & (1 << " #i ")\n" PENNA_ASM_SDT_ARG(i, unused)                                                 \
  ".else\n.ascii \"%c[size" #i "]@" PENNA_SDT_AT("%" PENNA_SDT_NAME "[arg" #i "]") "\"\n.endif\n"
#define PENNA_ASM_SPACE() ".ascii \" \"\n"

/* A semaphore is in the module that uses it, once per name; see PENNA_SDT_DEFINE_SEMAPHORE. `percent`: a percent sign,
 * as it is written inside and outside of functions. */
#define PENNA_SEMAPHORE_NAME(provider, name) "penna_sdt_semaphore_" #provider "_" #name
#define PENNA_ASM_SEMAPHORE(symbol, percent) PENNA_ASM_SEMAPHORE_AS(".hidden", symbol, percent)
#define PENNA_ASM_SEMAPHORE_AS(visibility, symbol, percent)                                                          \
  ".ifndef " symbol "\n"                                                                                             \
  ".pushsection .probes,\"awG\"," percent "progbits," symbol ",comdat\n"                                             \
  ".balign 2\n"                                                                                                      \
  ".weak " symbol "\n"                                                                                               \
  visibility " " symbol "\n"                                                                                         \
  ".type " symbol "," percent "object\n"                                                                             \
  ".size " symbol ",2\n"                                                                                             \
  symbol ": .2byte 0\n"                                                                                              \
  ".popsection\n"                                                                                                    \
  ".endif\n"
/* clang-format on */

#endif
#endif
