/* SPDX-License-Identifier: MIT
 *
 * AArch64 code of a point.
 *
 *   disabled                     armed
 *     d503201f   nop               14xxxxxx   b cold      <- reaches 128 MiB
 *     d503201f   nop               d503201f   nop         <- the address in the SDT note
 *
 * A nop and a branch may be stored over each other while other cores run them (Arm ARM, B2.2.5), if cache maintenance
 * follows; hints other than nop may not. The probe has its own nop: see x86_64_point.h.
 * Invariant: nothing here touches the stack, or a register that the compiler does not know of. x16 and x17 are what the
 * psABI leaves to linkers between caller and callee, so the compiler keeps little there.
 */
#ifndef PENNA_ARCH_AARCH64_POINT_H
#define PENNA_ARCH_AARCH64_POINT_H

#include <stdint.h>

#define PENNA_ARCH_HAS_SDT 1
#define PENNA_ARCH_HAS_POINTS 1
#define PENNA_SLOT_BYTES 4
typedef uint32_t penna_slot_unit;

/* clang-format off */
#define PENNA_ASM_SLOT(label, cold) label ": nop\n"
#define PENNA_ASM_PROBE_NOP    "nop\n"
#define PENNA_ASM_PROBE_NOP10  ""

#define PENNA_ASM_POINTER ".8byte "
#define PENNA_ASM_POINTER_BYTES "8"
#define PENNA_ASM_KEEP(symbol) ".reloc ., R_AARCH64_NONE, " symbol "\n"
#define PENNA_ASM_LOAD_SEMAPHORE(register, semaphore)                          \
  "adrp x16, " semaphore "\n ldrh " register ", [x16, :lo12:" semaphore "]\n"
#define PENNA_ASM_IF_HEARD(semaphore, label)                                   \
  PENNA_ASM_LOAD_SEMAPHORE("w16", semaphore) "cbnz w16, " label "\n"
#define PENNA_HEARD_CLOBBERS "x16"

#define PENNA_ASM_STATE(symbol) PENNA_ASM_LOAD_ADDRESS("x16", symbol)
#define PENNA_ASM_STATE_IN(operand) "mov x16, %[" operand "]\n"
#define PENNA_ASM_ADDRESS(symbol, operand) PENNA_ASM_LOAD_ADDRESS("%[" operand "]", symbol)
#define PENNA_ASM_LOAD_ADDRESS(register, symbol)                               \
  "adrp " register ", " symbol "\n add " register ", " register ", :lo12:" symbol "\n"

/* hint #36 is bti j: the entry returns by an indirect branch. */
#define PENNA_ASM_RESERVE(state, record, ...)                                  \
  __asm__ volatile(state                                                       \
                   "adrp x17, penna_module_entries\n"                          \
                   "ldr x17, [x17, :lo12:penna_module_entries]\n"              \
                   "adr x15, 1f\n"                                             \
                   "br x17\n"                                                  \
                   "1: hint #36\n"                                             \
                   "mov %[at], x15\n"                                          \
                   : [at] "=r"(record)                                         \
                   : __VA_ARGS__                                               \
                   : "x15", "x16", "x17", "cc", "memory")

#define PENNA_ASM_VALUES(state, values, ...)                                   \
  __asm__ volatile("mov x14, %[from]\n"                                        \
                   state                                                       \
                   "adrp x17, penna_module_entries+8\n"                        \
                   "ldr x17, [x17, :lo12:penna_module_entries+8]\n"            \
                   "adr x15, 1f\n"                                             \
                   "br x17\n"                                                  \
                   "1: hint #36\n"                                             \
                   :                                                           \
                   : [from] "r"(values), __VA_ARGS__                           \
                   : "x14", "x15", "x16", "x17", "cc", "memory")

/* hint #34 is bti c. */
#define PENNA_ASM_CALL_FIRST(agent, own)                                       \
  "hint #34\n" PENNA_ASM_LOAD_ADDRESS("x0", "penna_module_description")        \
  " adrp x16, :got:" agent "\n ldr x16, [x16, :got_lo12:" agent "]\n"          \
  " cbnz x16, 1f\n"                                                            \
  " adrp x16, :got:" own "\n ldr x16, [x16, :got_lo12:" own "]\n"              \
  " cbnz x16, 1f\n"                                                            \
  " ret\n 1: br x16\n"

/* Calls function(state, values), which uses general registers only. */
#define PENNA_ASM_ENTRY(symbol, function)                                      \
  ".text\n.balign 4\n.hidden " symbol "\n.globl " symbol "\n"                 \
  ".type " symbol ", %function\n"                                              \
  symbol ": hint #34\n"                                                        \
  " stp x0, x1, [sp, #-144]!\n stp x2, x3, [sp, #16]\n"                        \
  " stp x4, x5, [sp, #32]\n stp x6, x7, [sp, #48]\n stp x8, x9, [sp, #64]\n"   \
  " stp x10, x11, [sp, #80]\n stp x12, x13, [sp, #96]\n"                       \
  " stp x14, x15, [sp, #112]\n stp x18, x30, [sp, #128]\n"                     \
  " mov x0, x16\n mov x1, x14\n bl " function "\n mov x16, x0\n"              \
  " ldp x18, x30, [sp, #128]\n ldp x14, x17, [sp, #112]\n"                     \
  " ldp x12, x13, [sp, #96]\n ldp x10, x11, [sp, #80]\n"                       \
  " ldp x8, x9, [sp, #64]\n ldp x6, x7, [sp, #48]\n ldp x4, x5, [sp, #32]\n"   \
  " ldp x2, x3, [sp, #16]\n ldp x0, x1, [sp], #144\n mov x15, x16\n br x17\n" \
  ".size " symbol ", . - " symbol "\n"
/* clang-format on */

/* In position-independent code, only the constraint S accepts symbols. */
#define PENNA_SYMBOL_CONSTRAINT "Si"
#define PENNA_SYMBOL_NAME "c"

/* A register by its 64-bit name, which tools know, or a constant. */
#define PENNA_SDT_OPERAND "nr"
#define PENNA_SDT_NAME ""
#define PENNA_SDT_AT(address) "[" address "]"

/* Cleans the data cache and invalidates the instruction cache; other cores need their own isb. */
static inline void penna_arch_code_changed(uintptr_t slot) {
  __asm__ volatile("dc cvau, %0\n dsb ish\n ic ivau, %0\n dsb ish\n isb" : : "r"(slot) : "memory");
}

/* The bytes of a slot that jumps to `target` if it is armed; returns 0 if that is out of reach. */
static inline int penna_arch_slot(uintptr_t slot, uintptr_t target, int armed, unsigned char* code) {
  int64_t distance = (int64_t)(target - slot);
  if (distance < -(INT64_C(1) << 27) || distance >= INT64_C(1) << 27) return 0;
  const uint32_t nop = 0xd503201f, branch = 0x14000000 | ((uint32_t)(distance >> 2) & 0x3ffffff);
  for (int i = 0; i < 4; i++) code[i] = (unsigned char)((armed ? branch : nop) >> (8 * i));
  return 1;
}

#endif
