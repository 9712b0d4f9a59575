/* SPDX-License-Identifier: MIT
 *
 * From QEMU's -kernel to main(), x86-64. QEMU starts an ELF file with a PVH note in 32-bit protected mode, paging off:
 * make page tables (the first GiB, one to one, pages of 2 MiB), switch to 64 bits, continue. And the code that enters
 * and leaves interrupts.
 * Reference: https://xenbits.xen.org/docs/unstable/misc/pvh.html; Intel SDM volume 3, 9.8.5 (to IA-32e mode).
 */
        .section .note.pvh, "a", @note
        .balign 4
        .long   4, 4, 18                        /* XEN_ELFNOTE_PHYS32_ENTRY */
        .asciz  "Xen"
        .long   start

        .section .text.start, "ax"
        .code32
        .globl  start
start:  cld
        mov     $stack_top, %esp
        /* One entry in each of the two upper tables, 512 pages in the third. */
        movl    $(table_1 + 3), table_0         /* present, writable */
        movl    $(table_2 + 3), table_1
        mov     $table_2, %edi
        mov     $0x83, %eax                     /* present, writable, 2 MiB */
        mov     $512, %ecx
1:      mov     %eax, (%edi)
        add     $0x200000, %eax
        add     $8, %edi
        loop    1b

        mov     $0x6a0, %eax                    /* CR4: PAE, PGE, OSFXSR, OSXMMEXCPT */
        mov     %eax, %cr4
        mov     $table_0, %eax
        mov     %eax, %cr3
        mov     $0xc0000080, %ecx               /* EFER: LME */
        rdmsr
        or      $0x100, %eax
        wrmsr
        mov     $0x80000023, %eax               /* CR0: PG, NE, MP, PE */
        mov     %eax, %cr0
        lgdt    descriptors_at
        ljmp    $8, $start_64

        .code64
start_64:
        mov     $16, %eax
        mov     %eax, %ds
        mov     %eax, %es
        mov     %eax, %ss
        mov     $stack_top, %rsp
        xor     %ebp, %ebp
        call    machine_begin
        call    main
        mov     %eax, %edi
        call    machine_end
1:      hlt
        jmp     1b

/* Every interrupt: saves the registers that a C function compiled for general registers may change. */
        .globl  interrupt_entry
interrupt_entry:
        push    %rax
        push    %rcx
        push    %rdx
        push    %rsi
        push    %rdi
        push    %r8
        push    %r9
        push    %r10
        push    %r11
        cld
        call    machine_interrupt
        pop     %r11
        pop     %r10
        pop     %r9
        pop     %r8
        pop     %rdi
        pop     %rsi
        pop     %rdx
        pop     %rcx
        pop     %rax
        iretq

        .section .rodata
        .balign 8
descriptors:
        .quad   0
        .quad   0x00af9a000000ffff              /* 8: code, 64 bits */
        .quad   0x00cf92000000ffff              /* 16: data */
descriptors_at:
        .word   . - descriptors - 1
        .quad   descriptors

        .bss
        .balign 4096
table_0: .skip  4096
table_1: .skip  4096
table_2: .skip  4096
        .skip   65536
stack_top:

        .section .note.GNU-stack, "", @progbits
