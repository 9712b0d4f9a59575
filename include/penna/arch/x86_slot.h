/* SPDX-License-Identifier: MIT
 *
 * x86_slot.h: slot and probe of a point, on all x86.
 *
 *   disabled                                armed
 *     a9 rel32   test $distance, %eax         e9 rel32   jmp cold
 *     90         nop                          90         nop         <- the address in the SDT note
 *
 * The distance to the cold block is in the file already, as an operand that has no effect: so one byte arms the slot
 * under running threads, at any address, however the kernel copies it (docs/decisions/0040). The test changes only the
 * flags, which both compilers take to be lost by any asm statement on x86.
 * The probe has its own nop: a uprobe put on the slot would silence it, and its removal would restore the file's bytes.
 */
#ifndef PENNA_ARCH_X86_SLOT_H
#define PENNA_ARCH_X86_SLOT_H

#include <stdint.h>

#include "penna/detail/language.h"

PENNA_C_CODE_BEGIN

#define PENNA_SLOT_BYTES 5
typedef uint8_t penna_slot_unit;

/* For code that uses general registers only, where clang refuses long double. */
#if defined(__clang__) && !defined(__SSE2__)
#define PENNA_ARCH_NO_LONG_DOUBLE 1
#endif

/* clang-format off */
#define PENNA_ASM_SLOT(label, cold) label ": .byte 0xa9\n.4byte " cold " - . - 4\n"
#define PENNA_ASM_PROBE_NOP    "nop\n"
/* For optimised uprobes of future kernels: a nop that they can turn into a call without touching the red zone. */
#define PENNA_ASM_PROBE_NOP10  ".byte 0x66,0x2e,0x0f,0x1f,0x84,0x00,0x00,0x00,0x00,0x00\n"
/* clang-format on */

/* The core that made a store sees it as soon as it jumps. */
static inline void penna_arch_code_changed(uintptr_t slot) { (void)slot; }

/* The bytes of a slot that jumps to `target` if it is armed; returns 0 if that is out of reach. */
static inline int penna_arch_slot(uintptr_t slot, uintptr_t target, int armed, unsigned char* code) {
  intptr_t distance = (intptr_t)(target - (slot + PENNA_SLOT_BYTES));
  if (distance != (int32_t)distance) return 0;
  code[0] = armed ? 0xe9 : 0xa9; /* jmp rel32, test imm32 */
  for (int i = 0; i < 4; i++) code[1 + i] = (unsigned char)((uint32_t)distance >> (8 * i));
  return 1;
}

PENNA_C_CODE_END

#endif
