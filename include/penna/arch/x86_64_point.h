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

#include <stdint.h>

#define PENNA_ARCH_HAS_POINTS 1
#define PENNA_SLOT_BYTES 5
#define PENNA_DISABLED_SLOT \
  { 0x0f, 0x1f, 0x44, 0x00, 0x50 }

/* The bytes of the slot when it jumps to `target`; 0 when that is out of reach. */
static inline int penna_arch_armed_slot(uintptr_t slot, uintptr_t target, unsigned char* code) {
  int64_t distance = (int64_t)(target - (slot + PENNA_SLOT_BYTES));
  if (distance != (int32_t)distance) return 0;
  code[0] = 0xe9; /* jmp rel32 */
  for (int i = 0; i < 4; i++) code[1 + i] = (unsigned char)((uint32_t)distance >> (8 * i));
  return 1;
}

/* clang-format off */
/* Pads only when the slot would cross an 8-byte word: at offsets 4 to 7. */
#define PENNA_ASM_SLOT(label)  ".p2align 3,,4\n" label ": .byte 0x0f,0x1f,0x44,0x00,0x50\n"
#define PENNA_ASM_PROBE_NOP    "nop\n"
/* For optimised uprobes of kernels to come: a nop that they can turn into a call without touching the red zone. */
#define PENNA_ASM_PROBE_NOP10  ".byte 0x66,0x2e,0x0f,0x1f,0x84,0x00,0x00,0x00,0x00,0x00\n"

#define PENNA_ASM_POINTER ".quad "
#define PENNA_ASM_KEEP(symbol) ".reloc ., R_X86_64_NONE, " symbol "\n"
#define PENNA_ASM_IF_HEARD(semaphore, label) "cmpw $0, " semaphore "(%%rip)\njne " label "\n"

/* Asks for room in `record`; see penna_point_entries. `state`: assembly that puts the state's address into rax, with what
 * operands it needs (each with a comma in front). */
#define PENNA_ASM_STATE(symbol) "lea " symbol "(%%rip), %%rax\n"
#define PENNA_ASM_STATE_IN(operand) "mov %[" operand "], %%rax\n"
#define PENNA_ASM_ADDRESS(symbol, operand) "lea " symbol "(%%rip), %[" operand "]\n"
#define PENNA_ASM_RESERVE(state, record, ...)                                  \
  __asm__ volatile(state                                                       \
                   "lea 1f(%%rip), %%r11\n"                                    \
                   "jmp *penna_module_entries(%%rip)\n"                        \
                   "1: mov %%r10, %[at]\n"                                     \
                   : [at] "=r"(record)                                         \
                   : __VA_ARGS__                                               \
                   : "rax", "r10", "r11", "cc", "memory")

/* Hands over an array of values. */
#define PENNA_ASM_VALUES(state, values, ...)                                   \
  __asm__ volatile("mov %[from], %%r10\n"                                      \
                   state                                                       \
                   "lea 1f(%%rip), %%r11\n"                                    \
                   "jmp *penna_module_entries+8(%%rip)\n"                      \
                   "1:\n"                                                      \
                   :                                                           \
                   : [from] "r"(values), __VA_ARGS__                           \
                   : "rax", "r10", "r11", "cc", "memory")

/* Constructor and destructor: tail-call the agent, or else this module's own control, if there is one. Weak references
 * through the GOT: who is not there is a zero. */
#define PENNA_ASM_CALL_FIRST(agent, own)                                       \
  "endbr64\n lea penna_module_description(%%rip), %%rdi\n"                     \
  " mov " agent "@GOTPCREL(%%rip), %%rax\n test %%rax, %%rax\n jne 1f\n"      \
  " mov " own "@GOTPCREL(%%rip), %%rax\n test %%rax, %%rax\n jne 1f\n"        \
  " ret\n 1: jmp *%%rax\n"

/* Where the compiler has no use for asm goto: the slot jumps to a stub behind the function, which raises a flag. */
#define PENNA_FLAG_OUTPUT "=@ccc"
#define PENNA_ASM_LOWER_FLAG "clc\n"
#define PENNA_ASM_RAISE_FLAG "stc\n"
#define PENNA_ASM_JUMP "jmp "
#define PENNA_HEARD_OUTPUT "=@ccne"
#define PENNA_ASM_TEST_HEARD(semaphore) "cmpw $0, " semaphore "(%%rip)\n"
/* clang-format on */

/* Which operands the SDT note may name: a constant or a register. Never memory: at a symbol it breaks gdb, bpftrace and
 * perf. Twelve fit in registers even without optimisation. %q: the 64-bit name; gdb knows no %r8b. */
#define PENNA_SDT_OPERAND "nr"
#define PENNA_SDT_NAME "q"
#define PENNA_SDT_AT(address) "(" address ")"

#endif
