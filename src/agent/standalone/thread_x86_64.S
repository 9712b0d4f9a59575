/* SPDX-License-Identifier: MIT
 *
 * penna_thread_offset: the distance of this thread's `thread` from the thread pointer. Compilers call it for each
 * access (-mtls-dialect=gnu2: "TLS descriptors"), or __tls_get_addr below it. See threads.h.
 *
 * Why assembly: compilers expect every register except rax to be preserved, vector registers included.
 * Invariant: nothing below the stack pointer is read or written except by push and call.
 * Reference: A. Oliva, "Thread-Local Storage Descriptors for IA32 and AMD64".
 */
        .set    KEY_BYTES_BITS, 4
        .set    SLOT_KEYS, 20                   /* bytes of a slot / bytes of a key */
        .set    KEY_TID, 8
        .set    THREAD_BITS, 14
        .set    STANDALONE_TID_AT, 0

.macro SAVE register
        push    %\register
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset \register, 0
.endm

.macro RESTORE register
        pop     %\register
        .cfi_adjust_cfa_offset -8
        .cfi_restore \register
.endm

        .text
        .globl  penna_thread_offset
        .hidden penna_thread_offset
        .type   penna_thread_offset, @function
        .balign 64
penna_thread_offset:
        .cfi_startproc
        endbr64
        SAVE    rcx
        SAVE    rdx
        mov     %fs:0, %rcx
        movabs  $0x9e3779b97f4a7c15, %rax       /* kThreadMix */
        imul    %rcx, %rax
        shr     $(64 - THREAD_BITS), %rax
        shl     $KEY_BYTES_BITS, %rax
        lea     penna_thread_keys(%rip), %rdx
        cmp     %rcx, (%rdx, %rax)
        jne     .Lother
        mov     penna_agent_standalone + STANDALONE_TID_AT(%rip), %rcx
        mov     %fs:(%rcx), %ecx
        cmp     %ecx, KEY_TID(%rdx, %rax)
        jne     .Lother
        imul    $SLOT_KEYS, %rax, %rax
        lea     penna_thread_slots(%rip), %rdx
        add     %rdx, %rax
.Lfound:
        sub     %fs:0, %rax
        .cfi_remember_state
        RESTORE rdx
        RESTORE rcx
        ret

        .cfi_restore_state
.Lother:
        SAVE    rbp
        mov     %rsp, %rbp
        .cfi_remember_state
        .cfi_def_cfa_register rbp
        push    %rdi
        push    %rsi
        push    %r8
        push    %r9
        push    %r10
        push    %r11
        and     $-16, %rsp
        mov     %fs:0, %rdi
        call    penna_find_thread
        mov     -8(%rbp), %rdi
        mov     -16(%rbp), %rsi
        mov     -24(%rbp), %r8
        mov     -32(%rbp), %r9
        mov     -40(%rbp), %r10
        mov     -48(%rbp), %r11
        mov     %rbp, %rsp
        .cfi_restore_state
        RESTORE rbp
        jmp     .Lfound
        .cfi_endproc
        .size   penna_thread_offset, . - penna_thread_offset

        .globl  penna_agent_thread
        .set    penna_agent_thread, penna_thread_offset
        .type   penna_agent_thread, @function

        .globl  __tls_get_addr
        .hidden __tls_get_addr
        .type   __tls_get_addr, @function
        .balign 16
__tls_get_addr:
        .cfi_startproc
        endbr64
        call    penna_thread_offset
        add     %fs:0, %rax
        ret
        .cfi_endproc
        .size   __tls_get_addr, . - __tls_get_addr

        .section .note.GNU-stack, "", @progbits
