/* SPDX-License-Identifier: MIT
 *
 * x86-64 code of a point: the slot, the probe, and the way from the cold block into the recorder.
 *
 *   disabled                               armed
 *     0f 1f 44 00 50   nopl 0x50(%rax..)     e9 rel32   jmp cold
 *     90               nop                   90         nop         <- the address in the SDT note
 *
 * The slot is one instruction inside an aligned 8-byte word, so that one aligned store arms it under running threads.
 * Its displacement 0x50 keeps it apart from the nops that other tools look for (kernel: 0f 1f 44 00 00; clang's
 * patchable entries: ..08). The probe has a nop of its own: a uprobe put on the slot would silence it, and its removal
 * would bring back the file's bytes.
 * Invariant: nothing here touches the stack, the red zone, or a register that the compiler does not know of.
 */
#ifndef PENNA_ARCH_X86_64_POINT_H
#define PENNA_ARCH_X86_64_POINT_H

#define PENNA_ARCH_HAS_POINTS 1
#define PENNA_SLOT_BYTES 5

/* clang-format off */
/* Pads only when the slot would cross an 8-byte word: at offsets 4 to 7. */
#define PENNA_ASM_SLOT(label)  ".p2align 3,,4\n" label ": .byte 0x0f,0x1f,0x44,0x00,0x50\n"
#define PENNA_ASM_PROBE_NOP    "nop\n"
/* For optimised uprobes of kernels to come: a nop that they can turn into a call without touching the red zone. */
#define PENNA_ASM_PROBE_NOP10  ".byte 0x66,0x2e,0x0f,0x1f,0x84,0x00,0x00,0x00,0x00,0x00\n"

/* Asks for room in `record`; see penna_point_entries. */
#define PENNA_ASM_RESERVE(state, types_, record)                               \
  __asm__ volatile("lea " state "(%%rip), %%rax\n"                             \
                   "lea 1f(%%rip), %%r11\n"                                    \
                   "jmp *penna_module_entries(%%rip)\n"                        \
                   "1: mov %%r10, %[at]\n"                                     \
                   : [at] "=r"(record)                                         \
                   : PENNA_TYPE_OPERANDS(types_)                               \
                   : "rax", "r10", "r11", "cc", "memory")

/* Hands over an array of values. */
#define PENNA_ASM_VALUES(state, types_, values)                                \
  __asm__ volatile("mov %[from], %%r10\n"                                      \
                   "lea " state "(%%rip), %%rax\n"                             \
                   "lea 1f(%%rip), %%r11\n"                                    \
                   "jmp *penna_module_entries+8(%%rip)\n"                      \
                   "1:\n"                                                      \
                   :                                                           \
                   : [from] "r"(values), PENNA_TYPE_OPERANDS(types_)           \
                   : "rax", "r10", "r11", "cc", "memory")

/* Constructor and destructor: tail-call the agent if there is one. Weak references through the GOT: a static program or
 * one without the agent finds a zero there. */
#define PENNA_ASM_CALL_AGENT(function)                                         \
  "endbr64\n mov " function "@GOTPCREL(%%rip), %%rax\n test %%rax, %%rax\n"    \
  " je 1f\n lea penna_module_description(%%rip), %%rdi\n jmp *%%rax\n 1: ret\n"
#define PENNA_ASM_POINTER ".quad "
/* clang-format on */

/* Which operands the SDT note may name: a constant or a register. Never memory: at a symbol it breaks gdb, bpftrace and
 * perf. Twelve fit in registers even without optimisation. %q: the 64-bit name; gdb knows no %r8b. */
#define PENNA_SDT_OPERAND "nr"
#define PENNA_SDT_NAME "q"

#endif
