/* SPDX-License-Identifier: MIT
 *
 * arch/point.h: picks the machine code of points for this processor; without one, or with PENNA_DISABLE_POINTS, points
 * compile to nothing (see PENNA_EVENT and PENNA_SDT for what becomes of their arguments). A processor's file defines:
 *
 *   PENNA_ARCH_HAS_SDT                    SDT probes: PENNA_ASM_PROBE_NOP, _POINTER, _KEEP, PENNA_SDT_* suffice
 *   PENNA_ARCH_HAS_POINTS, PENNA_SLOT_BYTES
 *   penna_slot_unit                       type of what changes in a slot, from its first byte on; written by one store
 *   penna_arch_slot(slot, target, armed, bytes)   the bytes of a slot that is off, or that jumps
 *   penna_arch_code_changed(slot)         makes this core see what was stored there
 *   PENNA_ASM_ENTRY(symbol, function)     at file scope: where cold blocks may enter, for firmware.h
 *   PENNA_ASM_SLOT(label, cold)           the slot, off; `cold`: where it jumps when it is armed
 *   PENNA_ASM_PROBE_NOP[10]               the instruction that the SDT note points at
 *   PENNA_ASM_POINTER[_BYTES]             directive: addresses; their size
 *   PENNA_ASM_KEEP(symbol)                a relocation of no bytes: a linker that keeps this code keeps the symbol
 *   PENNA_ASM_CALL_FIRST(agent, own)      tail-calls one of two weak functions with the module's description
 *   PENNA_ASM_IF_HEARD(semaphore, label)  jumps when the 16 bits at the symbol are not zero
 *   PENNA_ASM_STATE(symbol), PENNA_ASM_STATE_IN(operand), PENNA_ASM_RESERVE, PENNA_ASM_VALUES
 *                                         from a cold block into the recorder: penna_point_entries in point_abi.h
 *   PENNA_ASM_ADDRESS(symbol, operand)    the address of a symbol of this module
 *   PENNA_SDT_OPERAND, PENNA_SDT_NAME, PENNA_SDT_AT   how an argument is passed and named in the note
 */
#ifndef PENNA_ARCH_POINT_H
#define PENNA_ARCH_POINT_H

#if defined(PENNA_DISABLE_POINTS) || !defined(__ELF__)
/* no points */
#elif defined(__x86_64__) && defined(__LP64__)
#include "penna/arch/x86_64_point.h"
#elif defined(__aarch64__) && defined(__LP64__)
#include "penna/arch/aarch64_point.h"
#elif defined(__i386__)
#include "penna/arch/i386_point.h"
#elif defined(__arm__)
#include "penna/arch/arm_point.h"
#endif

/* How a value becomes an operand of the note. In memory, it gets its own place on the stack: otherwise the note would
 * name a variable by its symbol, which tools cannot read. A struct is then given by its address. */
#ifdef PENNA_SDT_IN_MEMORY
#ifdef __cplusplus
#define PENNA_SDT_AUTO auto
#else
#define PENNA_SDT_AUTO __auto_type
#endif
#define PENNA_SDT_OPERAND "m"
#define PENNA_SDT_AT(address) address
#define PENNA_SDT_WHOLE_STRUCTS 0
#define PENNA_SDT_BEFORE(i, unused)                                \
  __extension__ PENNA_SDT_AUTO penna_sdt_##i = PENNA_SDT_VALUE(i); \
  __asm__("" : "+m"(penna_sdt_##i));
#define PENNA_SDT_PASSED(i) penna_sdt_##i
#else
#define PENNA_SDT_WHOLE_STRUCTS 1
#define PENNA_SDT_BEFORE(i, unused)
#define PENNA_SDT_PASSED(i) PENNA_SDT_VALUE(i)
#endif

#endif
