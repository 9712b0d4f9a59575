/* SPDX-License-Identifier: MIT
 *
 * penna_call_inside(function, a, b, c): calls function(a, b, c). When an exception passes, its personality routine
 * notes it (entered_allocators.cc): a destructor would need libgcc.
 * Invariant: a regular frame, for unwinders of every kind.
 */
        .text
        .globl  penna_call_inside
        .hidden penna_call_inside
        .type   penna_call_inside, @function
penna_call_inside:
        .cfi_startproc
        /* 0x1b: pc-relative, four bytes, signed (DW_EH_PE_pcrel | DW_EH_PE_sdata4); needs no relocation at run
         * time. */
        .cfi_personality 0x1b, penna_inside_personality
        endbr64
        push    %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_offset rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register rbp
        /* The arguments move down by one. The push has aligned rsp to 16 bytes again. */
        mov     %rdi, %rax
        mov     %rsi, %rdi
        mov     %rdx, %rsi
        mov     %rcx, %rdx
        call    *%rax
        pop     %rbp
        .cfi_def_cfa rsp, 8
        ret
        .cfi_endproc
.size penna_call_inside, . - penna_call_inside

        .section .note.GNU-stack, "", @progbits
