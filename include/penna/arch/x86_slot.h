/* SPDX-License-Identifier: MIT
 *
 * x86_slot.h: slot and probe of a point, on all x86.
 *
 *   disabled                               armed
 *     0f 1f 44 00 50   nopl 0x50(%rax..)     e9 rel32   jmp cold
 *     90               nop                   90         nop         <- the address in the SDT note
 *
 * The slot is one instruction, all of it that changes inside an aligned 8-byte word, so that one aligned store arms it
 * under running threads.
 * Its displacement 0x50 keeps it apart from the nops that other tools look for (kernel: 0f 1f 44 00 00; clang's
 * patchable entries: ..08). The probe has a nop of its own: a uprobe put on the slot would silence it, and its removal
 * would bring back the file's bytes.
 */
#ifndef PENNA_ARCH_X86_SLOT_H
#define PENNA_ARCH_X86_SLOT_H

#include <stdint.h>

#include "penna/detail/language.h"

PENNA_C_CODE_BEGIN

#define PENNA_SLOT_BYTES 5
#define PENNA_DISABLED_SLOT \
  { 0x0f, 0x1f, 0x44, 0x00, 0x50 }

/* For code that uses general registers only, which clang would otherwise refuse. */
#if defined(__clang__) && !defined(__SSE2__)
#define PENNA_ARCH_NO_LONG_DOUBLE 1
#endif

/* clang-format off */
/* Where these bytes would cross an 8-byte word (at offsets 4 to 7), up to 4 prefixes cs, which mean nothing to a nop or a
 * jump, make the instruction longer: a nop of its own would take the processor as long as the slot itself. What is
 * patched are the 5 bytes; the instruction begins and ends where it did. */
#define PENNA_ASM_SLOT(label)  ".p2align 3,0x2e,4\n" label ": .byte 0x0f,0x1f,0x44,0x00,0x50\n"
#define PENNA_ASM_PROBE_NOP    "nop\n"
/* For optimised uprobes of kernels to come: a nop that they can turn into a call without touching the red zone. */
#define PENNA_ASM_PROBE_NOP10  ".byte 0x66,0x2e,0x0f,0x1f,0x84,0x00,0x00,0x00,0x00,0x00\n"
/* clang-format on */

/* The core that made a store sees it as soon as it jumps. */
static inline void penna_arch_code_changed(uintptr_t slot) { (void)slot; }

/* The bytes of a slot that jumps to `target`; returns 0 if that is out of reach. */
static inline int penna_arch_armed_slot(uintptr_t slot, uintptr_t target, unsigned char* code) {
  intptr_t distance = (intptr_t)(target - (slot + PENNA_SLOT_BYTES));
  if (distance != (int32_t)distance) return 0;
  code[0] = 0xe9; /* jmp rel32 */
  for (int i = 0; i < 4; i++) code[1 + i] = (unsigned char)((uint32_t)distance >> (8 * i));
  return 1;
}

PENNA_C_CODE_END

#endif
