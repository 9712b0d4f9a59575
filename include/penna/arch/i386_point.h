/* SPDX-License-Identifier: MIT
 *
 * i386 code of a point: the slot and the probe of x86_64_point.h; see there.
 *
 * Position-independent code does not know its own address. The cold block gets it by call and pop, which is safe
 * because there is no red zone below the stack pointer.
 * clang accepts symbols as operands only in code that is not position-independent: elsewhere points are only SDT
 * probes.
 * Invariant: nothing here touches a register that the compiler does not know of, and the stack is left as it was.
 */
#ifndef PENNA_ARCH_I386_POINT_H
#define PENNA_ARCH_I386_POINT_H

#include "penna/arch/x86_slot.h"

#define PENNA_ARCH_HAS_SDT 1
#if !defined(__clang__) || !defined(__PIC__)
#define PENNA_ARCH_HAS_POINTS 1
#endif

/* clang-format off */
#define PENNA_ASM_POINTER ".4byte "
#define PENNA_ASM_POINTER_BYTES "4"
#define PENNA_ASM_KEEP(symbol) ".reloc ., R_386_NONE, " symbol "\n"

#define PENNA_ASM_HERE(register) "call 2f\n2: pop " register "\n"
#ifdef __PIC__
#define PENNA_ASM_IF_HEARD(semaphore, label)                                   \
  PENNA_ASM_HERE("%%ecx") "cmpw $0, " semaphore " - 2b(%%ecx)\njne " label "\n"
#define PENNA_HEARD_CLOBBERS "ecx", "cc"
#else
#define PENNA_ASM_IF_HEARD(semaphore, label) "cmpw $0, " semaphore "\njne " label "\n"
#define PENNA_HEARD_CLOBBERS "cc"
#endif

#define PENNA_ASM_STATE(symbol) "lea " symbol " - 2b(%%ecx), %%eax\n"
#define PENNA_ASM_STATE_IN(operand) "mov %[" operand "], %%eax\n"
#define PENNA_ASM_ADDRESS(symbol, operand)                                     \
  PENNA_ASM_HERE("%[" operand "]") "lea " symbol " - 2b(%[" operand "]), %[" operand "]\n"

/* The entry's address is passed on the stack: no register is left. */
#define PENNA_ASM_ENTER(state, entry)                                          \
  PENNA_ASM_HERE("%%ecx") state                                                \
  "pushl penna_module_entries + " entry " - 2b(%%ecx)\n"                       \
  "lea 1f - 2b(%%ecx), %%ecx\n"                                                \
  "ret\n"                                                                      \
  "1:\n"
#define PENNA_ASM_RESERVE(state, record, ...)                                  \
  __asm__ volatile(PENNA_ASM_ENTER(state, "0")                                 \
                   : "=d"(record)                                              \
                   : __VA_ARGS__                                               \
                   : "eax", "ecx", "cc", "memory")
#define PENNA_ASM_VALUES(state, values, ...)                                   \
  do {                                                                         \
    uint64_t* penna_from = (values);                                           \
    __asm__ volatile(PENNA_ASM_ENTER(state, "8")                               \
                     : "+d"(penna_from)                                        \
                     : __VA_ARGS__                                             \
                     : "eax", "ecx", "cc", "memory");                          \
  } while (0)

/* The description is passed on the stack, which is aligned to 16 at calls. */
#define PENNA_ASM_CALL_FIRST(agent, own)                                       \
  PENNA_ASM_HERE("%%ecx")                                                      \
  " lea penna_module_description - 2b(%%ecx), %%edx\n"                         \
  " add $_GLOBAL_OFFSET_TABLE_ + (. - 2b), %%ecx\n"                            \
  " mov " agent "@GOT(%%ecx), %%eax\n test %%eax, %%eax\n jne 1f\n"            \
  " mov " own "@GOT(%%ecx), %%eax\n test %%eax, %%eax\n jne 1f\n"              \
  " ret\n"                                                                     \
  "1: sub $8, %%esp\n push %%edx\n call *%%eax\n add $12, %%esp\n ret\n"

/* Calls function(state, values), which uses general registers only. */
#define PENNA_ASM_ENTRY(symbol, function)                                      \
  ".text\n.hidden " symbol "\n.globl " symbol "\n.type " symbol ", @function\n" \
  symbol ": push %ecx\n push %ebp\n mov %esp, %ebp\n and $-16, %esp\n"         \
  " sub $8, %esp\n push %edx\n push %eax\n call " function "\n"               \
  " mov %eax, %edx\n mov %ebp, %esp\n pop %ebp\n pop %ecx\n jmp *%ecx\n"      \
  ".size " symbol ", . - " symbol "\n"
/* clang-format on */

/* In position-independent code gcc accepts a symbol only with constraint X, "anything", and prints it with %P only. */
#ifdef __clang__
#define PENNA_SYMBOL_CONSTRAINT "i"
#define PENNA_SYMBOL_NAME "c"
#else
#define PENNA_SYMBOL_CONSTRAINT "X"
#define PENNA_SYMBOL_NAME "P"
#endif

/* Too few registers for twelve arguments: they are passed on the stack. */
#define PENNA_SDT_NAME "k"
#define PENNA_SDT_IN_MEMORY 1

#endif
