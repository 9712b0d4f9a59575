/* SPDX-License-Identifier: MIT
 *
 * ARM code of a point: SDT probes only. The nop is A32 or T32, like the code around it.
 * Why no slot: here gcc accepts no symbols as operands in position-independent code.
 */
#ifndef PENNA_ARCH_ARM_POINT_H
#define PENNA_ARCH_ARM_POINT_H

#define PENNA_ARCH_HAS_SDT 1

#define PENNA_ASM_PROBE_NOP "nop\n"
#define PENNA_ASM_PROBE_NOP10 ""
#define PENNA_ASM_POINTER ".4byte "
#define PENNA_ASM_POINTER_BYTES "4"
#define PENNA_ASM_KEEP(symbol) ".reloc ., R_ARM_NONE, " symbol "\n"

/* Too few registers for twelve arguments: they are passed on the stack. */
#define PENNA_SDT_NAME ""
#define PENNA_SDT_IN_MEMORY 1

#endif
