/* SPDX-License-Identifier: MIT
 *
 * From QEMU's -kernel to main(), AArch64, machine "virt": QEMU starts an ELF file at its entry, in EL1, caches and
 * translation off. Atomics need cacheable memory, so both are switched on: the first GiB is devices, the second memory,
 * mapped one to one. And the code that enters and leaves interrupts.
 * Reference: Arm ARM, D1.10 (exceptions), D5.2 (translation); QEMU, docs/system/arm/virt.rst.
 */
        .section .text.start, "ax"
        .globl  start
start:  msr     daifset, #15
        mov     x0, #(3 << 20)                  /* CPACR_EL1: floating point is not trapped */
        msr     cpacr_el1, x0
        adr     x0, vectors
        msr     vbar_el1, x0
        isb
        ldr     x0, =0xff04                     /* MAIR: 0 device, 1 memory, written back */
        msr     mair_el1, x0
        ldr     x0, =0x200803519                /* TCR: 39 bits from level 1, 4 KiB, walks cached, 40 bits out; no TTBR1 */
        msr     tcr_el1, x0
        adr     x0, table
        msr     ttbr0_el1, x0
        dsb     sy
        isb
        mrs     x0, sctlr_el1
        mov     x1, #0x1005                     /* M, C, I */
        orr     x0, x0, x1
        msr     sctlr_el1, x0
        isb
        ldr     x0, =stack_top
        mov     sp, x0
        mov     x29, #0
        bl      machine_begin
        bl      main
        bl      machine_end
1:      wfi
        b       1b

/* An interrupt: saves the registers that a C function compiled for general registers may change. */
interrupt_entry:
        stp     x0, x1, [sp, #-176]!
        stp     x2, x3, [sp, #16]
        stp     x4, x5, [sp, #32]
        stp     x6, x7, [sp, #48]
        stp     x8, x9, [sp, #64]
        stp     x10, x11, [sp, #80]
        stp     x12, x13, [sp, #96]
        stp     x14, x15, [sp, #112]
        stp     x16, x17, [sp, #128]
        stp     x18, x30, [sp, #144]
        bl      machine_interrupt
        ldp     x18, x30, [sp, #144]
        ldp     x16, x17, [sp, #128]
        ldp     x14, x15, [sp, #112]
        ldp     x12, x13, [sp, #96]
        ldp     x10, x11, [sp, #80]
        ldp     x8, x9, [sp, #64]
        ldp     x6, x7, [sp, #48]
        ldp     x4, x5, [sp, #32]
        ldp     x2, x3, [sp, #16]
        ldp     x0, x1, [sp], #176
        eret

fault:  mov     x0, #2
        bl      machine_end

/* Sixteen entries of 128 bytes; ours is the IRQ from EL1 with its own stack. */
        .balign 2048
vectors:
        .rept   5
        b       fault
        .balign 128
        .endr
        b       interrupt_entry
        .balign 128
        .rept   10
        b       fault
        .balign 128
        .endr

        .balign 4096
table:  .quad   0x0060000000000401              /* 0: device, never executed */
        .quad   0x0000000040000705              /* 1 GiB: memory, inner shareable */
        .skip   4096 - 16

        .bss
        .balign 16
        .skip   65536
stack_top:
