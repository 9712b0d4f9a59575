/* SPDX-License-Identifier: MIT
 *
 * The way into the recorder from the cold block of a point, x86-64. See penna_point_entries in penna/point_abi.h.
 *
 * Why by hand: a compiler's call would make every function with a point save registers and build a frame, armed or not.
 * Here the cold block jumps, and gets everything back but rax, r10, r11 and the flags. The C++ behind is compiled for
 * general registers only; where it needs libc it goes through penna_point_preserving, which keeps the vector state.
 * Invariant: memory below rsp down to rsp - 128 is the interrupted function's (psABI 3.2.2, red zone).
 *
 *      caller's rsp  +--------------------------+  CFA
 *                    |  red zone, 128 bytes     |
 *               -136 |  return address (rax)    |
 *               -144 |  rbp                     |  <- rbp
 *                    |  rdi rsi rdx rcx r8 r9   |
 *                    |  alignment               |
 *                    +--------------------------+
 */
.macro SAVE
        .cfi_startproc
        .cfi_def_cfa    rsp, 0
        .cfi_register   rip, rax
        endbr64
        lea     -128(%rsp), %rsp
        .cfi_adjust_cfa_offset 128
        push    %rax
        .cfi_adjust_cfa_offset 8
        .cfi_offset     rip, -136
        push    %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_offset     rbp, -144
        mov     %rsp, %rbp
        .cfi_def_cfa_register rbp
        push    %rdi
        .cfi_offset     rdi, -152
        push    %rsi
        .cfi_offset     rsi, -160
        push    %rdx
        .cfi_offset     rdx, -168
        push    %rcx
        .cfi_offset     rcx, -176
        push    %r8
        .cfi_offset     r8, -184
        push    %r9
        .cfi_offset     r9, -192
        and     $-16, %rsp
.endm

.macro RESTORE
        mov     -8(%rbp), %rdi
        mov     -16(%rbp), %rsi
        mov     -24(%rbp), %rdx
        mov     -32(%rbp), %rcx
        mov     -40(%rbp), %r8
        mov     -48(%rbp), %r9
        mov     8(%rbp), %rax
        mov     %rbp, %rsp
        pop     %rbp
        .cfi_def_cfa    rsp, 136
        .cfi_restore    rbp
        .cfi_register   rip, rax
        lea     136(%rsp), %rsp
        .cfi_def_cfa_offset 0
        notrack jmp *%rax
        .cfi_endproc
.endm

.macro ENTRY symbol
        .globl  \symbol
        .hidden \symbol
        .type   \symbol, @function
        .balign 64
\symbol:
.endm

        .text

/* in: r11 state; out: r10 record, r11 header */
ENTRY penna_point_reserve_entry
        SAVE
        mov     %r11, %rdi
        call    penna_point_reserve             /* rax record, rdx header */
        mov     %rax, %r10
        mov     %rdx, %r11
        RESTORE
.size penna_point_reserve_entry, . - penna_point_reserve_entry

/* in: r11 state, r10 values */
ENTRY penna_point_values_entry
        SAVE
        mov     %r11, %rdi
        mov     %r10, %rsi
        call    penna_point_values
        RESTORE
.size penna_point_values_entry, . - penna_point_values_entry

/* penna_point_preserving(a, b, c, function): calls function(a, b, c) with the vector and x87 state kept; passes rax, rdx on.
 * XSAVE of the components x87, SSE, AVX, opmask, ZMM (0xe7): never AMX, which is 8 KiB. Reference: SDM volume 1, 13.4. */
        .set    XSAVE_BYTES, 2688
        .set    XSAVE_HEADER, 512
ENTRY penna_point_preserving
        .cfi_startproc
        endbr64
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset     rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register rbp
        push    %rbx
        .cfi_offset     rbx, -24
        sub     $XSAVE_BYTES, %rsp
        and     $-64, %rsp
        cmpb    $0, penna_point_has_xsave(%rip)
        je      1f
        xor     %eax, %eax                      /* the header must be zero but for what XSAVE writes */
        mov     %rax, XSAVE_HEADER(%rsp)
        mov     %rax, XSAVE_HEADER + 8(%rsp)
        mov     %rax, XSAVE_HEADER + 16(%rsp)
        mov     %rax, XSAVE_HEADER + 24(%rsp)
        mov     %rax, XSAVE_HEADER + 32(%rsp)
        mov     %rax, XSAVE_HEADER + 40(%rsp)
        mov     %rax, XSAVE_HEADER + 48(%rsp)
        mov     %rax, XSAVE_HEADER + 56(%rsp)
        mov     %rdx, %rbx
        mov     $0xe7, %eax
        xor     %edx, %edx
        xsave   (%rsp)
        mov     %rbx, %rdx
        call    *%rcx
        mov     %rax, %rcx
        mov     %rdx, %rbx
        mov     $0xe7, %eax
        xor     %edx, %edx
        xrstor  (%rsp)
        mov     %rcx, %rax
        mov     %rbx, %rdx
        jmp     2f
1:      fxsave  (%rsp)
        call    *%rcx
        fxrstor (%rsp)
2:      lea     -8(%rbp), %rsp
        pop     %rbx
        .cfi_restore    rbx
        pop     %rbp
        .cfi_def_cfa    rsp, 8
        .cfi_restore    rbp
        ret
        .cfi_endproc
.size penna_point_preserving, . - penna_point_preserving

        .section .note.GNU-stack, "", @progbits
