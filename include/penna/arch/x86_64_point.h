/* SPDX-License-Identifier: MIT
 *
 * x86-64 code of a point: how the cold block enters the recorder. The slot is in x86_slot.h.
 * Invariant: nothing here touches the stack, the red zone, or a register that the compiler does not know of.
 */
#ifndef PENNA_ARCH_X86_64_POINT_H
#define PENNA_ARCH_X86_64_POINT_H

#include "penna/arch/x86_slot.h"

#define PENNA_ARCH_HAS_SDT 1
#define PENNA_ARCH_HAS_POINTS 1

/* clang-format off */
#define PENNA_ASM_POINTER ".quad "
#define PENNA_ASM_POINTER_BYTES "8"
#define PENNA_ASM_KEEP(symbol) ".reloc ., R_X86_64_NONE, " symbol "\n"
#define PENNA_ASM_IF_HEARD(semaphore, label) "cmpw $0, " semaphore "(%%rip)\njne " label "\n"
#define PENNA_HEARD_CLOBBERS "cc"

/* Asks for room in `record`; see penna_point_entries. `state`: assembly that loads the state's address into rax, and
 * the operands that it needs (each with a leading comma). */
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

/* Passes on an array of values. */
#define PENNA_ASM_VALUES(state, values, ...)                                   \
  __asm__ volatile("mov %[from], %%r10\n"                                      \
                   state                                                       \
                   "lea 1f(%%rip), %%r11\n"                                    \
                   "jmp *penna_module_entries+8(%%rip)\n"                      \
                   "1:\n"                                                      \
                   :                                                           \
                   : [from] "r"(values), __VA_ARGS__                           \
                   : "rax", "r10", "r11", "cc", "memory")

/* Constructor and destructor: tail-call the agent, or else this module's own control, if any. Weak references through
 * the GOT: a missing function is a zero. */
#define PENNA_ASM_CALL_FIRST(agent, own)                                       \
  "endbr64\n lea penna_module_description(%%rip), %%rdi\n"                     \
  " mov " agent "@GOTPCREL(%%rip), %%rax\n test %%rax, %%rax\n jne 1f\n"      \
  " mov " own "@GOTPCREL(%%rip), %%rax\n test %%rax, %%rax\n jne 1f\n"        \
  " ret\n 1: jmp *%%rax\n"

/* Calls function(state, values), which uses general registers only, beyond the red zone. */
#define PENNA_ASM_ENTRY(symbol, function)                                      \
  ".text\n.hidden " symbol "\n.globl " symbol "\n.type " symbol ", @function\n" \
  symbol ": endbr64\n"                                                         \
  " lea -128(%rsp), %rsp\n push %r11\n push %rdi\n push %rsi\n push %rdx\n"   \
  " push %rcx\n push %r8\n push %r9\n push %rbp\n mov %rsp, %rbp\n"           \
  " and $-16, %rsp\n mov %rax, %rdi\n mov %r10, %rsi\n call " function "\n"    \
  " mov %rax, %r10\n mov %rbp, %rsp\n pop %rbp\n pop %r9\n pop %r8\n"          \
  " pop %rcx\n pop %rdx\n pop %rsi\n pop %rdi\n pop %r11\n lea 128(%rsp), %rsp\n" \
  " notrack jmp *%r11\n.size " symbol ", . - " symbol "\n"

/* The address of one of the agent's functions; 0: the agent is absent. */
#define PENNA_ASM_AGENT_FUNCTION(symbol, address)                              \
  __asm__(".weak " symbol "\n mov " symbol "@GOTPCREL(%%rip), %0" : "=r"(address))
/* clang-format on */

#define PENNA_SYMBOL_CONSTRAINT "i"
#define PENNA_SYMBOL_NAME "c"

/* Which operands the SDT note may name: a constant or a register. Never memory: at a symbol it breaks gdb, bpftrace and
 * perf. Twelve fit in registers even without optimisation. %q: the 64-bit name; gdb knows no %r8b. */
#define PENNA_SDT_OPERAND "nr"
#define PENNA_SDT_NAME "q"
#define PENNA_SDT_AT(address) "(" address ")"

#endif
