/* SPDX-License-Identifier: MIT
 *
 * Runs before the hooks of calls_x86_64.S, in a program that counts its calls for gprof: calls libc's counting function
 * with the addresses that libc's own hook would have found. See gprof.cc.
 *
 * Invariant: like libc's hooks, this preserves all registers that hold arguments, and leaves vector registers alone
 * because that function does.
 */
        .set    PROCESS_ARMED, 0
        .set    CALLS_BIT, 1 << 0
        .set    TRAMPOLINES_BYTES, ((1 << 17) + 64) * 16
        .set    TRAMPOLINE_BYTES, 16
        .set    LINK_BYTES, 32
        .set    LINK_CALLER, 0
        .set    FRAME_BYTES, 80

/* `caller`: the operand that holds the caller's address. */
.macro COUNTING name, caller, hook, libcs
        .hidden \name, \hook, \libcs
        .globl  \name
        .type   \name, @function
        .balign 64
\name:
        .cfi_startproc
        testl   $CALLS_BIT, _ZN5penna5agent7processE + PROCESS_ARMED(%rip)
        jnz     1f
        cmpl    $0, _ZN5penna5agent7processE + PROCESS_ARMED(%rip)
        jne     5f                              /* calls are not recorded */
1:      cmpq    $0, penna_count_arc(%rip)
        je      5f
        sub     $FRAME_BYTES, %rsp
        .cfi_adjust_cfa_offset FRAME_BYTES
        mov     %rax, (%rsp)
        mov     %rcx, 8(%rsp)
        mov     %rdx, 16(%rsp)
        mov     %rsi, 24(%rsp)
        mov     %rdi, 32(%rsp)
        mov     %r8, 40(%rsp)
        mov     %r9, 48(%rsp)
        mov     %r10, 56(%rsp)
        mov     %r11, 64(%rsp)
        mov     FRAME_BYTES(%rsp), %rsi
        mov     \caller, %rdi
        /* The caller of a function that was entered by a tail call is a trampoline, whose caller may be another one. */
        lea     penna_return_trampolines(%rip), %rax
        lea     penna_return_links(%rip), %rdx
2:      mov     %rdi, %rcx
        sub     %rax, %rcx
        cmp     $TRAMPOLINES_BYTES, %rcx
        jae     3f
        and     $-TRAMPOLINE_BYTES, %rcx
        mov     LINK_CALLER(%rdx, %rcx, LINK_BYTES / TRAMPOLINE_BYTES), %rdi
        jmp     2b
3:      notrack call *penna_count_arc(%rip)
        mov     (%rsp), %rax
        mov     8(%rsp), %rcx
        mov     16(%rsp), %rdx
        mov     24(%rsp), %rsi
        mov     32(%rsp), %rdi
        mov     40(%rsp), %r8
        mov     48(%rsp), %r9
        mov     56(%rsp), %r10
        mov     64(%rsp), %r11
        add     $FRAME_BYTES, %rsp
        .cfi_adjust_cfa_offset -FRAME_BYTES
        jmp     \hook
5:      notrack jmp *\libcs(%rip)
        .cfi_endproc
.size \name, . - \name
.endm

        .hidden penna_count_arc, penna_return_trampolines, penna_return_links
        .text
        COUNTING penna_count_fentry, FRAME_BYTES + 8(%rsp), penna_call_enter, penna_libc_fentry
        COUNTING penna_count_mcount, 8(%rbp), penna_call_mcount, penna_libc_mcount

        .section .note.GNU-stack, "", @progbits
