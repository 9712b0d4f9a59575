/* SPDX-License-Identifier: MIT
 *
 * Functions that save where they were called from, or whose arguments are not known here: reported, then jumped to as
 * if nothing were in between.
 * Invariant: all registers that hold arguments, and the stack, are as the caller left them.
 */
        .text

.macro TELL_FIRST name
        .globl  \name
        .type   \name, @function
        .balign 16
\name:
        .cfi_startproc
        endbr64
        push    %rdi
        .cfi_adjust_cfa_offset 8
        push    %rsi
        .cfi_adjust_cfa_offset 8
        push    %rdx
        .cfi_adjust_cfa_offset 8
        push    %rcx
        .cfi_adjust_cfa_offset 8
        push    %r8
        .cfi_adjust_cfa_offset 8
        push    %r9
        .cfi_adjust_cfa_offset 8
        /* al: the number of vector registers of a variadic call; pushing it also aligns the stack */
        push    %rax
        .cfi_adjust_cfa_offset 8
        /* Seven words and the return address: the stack is aligned here, as the psABI (3.2.2) asks. */
        call    penna_agent_before_\name
        /* No argument is in %r11, and no caller expects it to be preserved (psABI, figure 3.4). */
        mov     %rax, %r11
        pop     %rax
        .cfi_adjust_cfa_offset -8
        pop     %r9
        .cfi_adjust_cfa_offset -8
        pop     %r8
        .cfi_adjust_cfa_offset -8
        pop     %rcx
        .cfi_adjust_cfa_offset -8
        pop     %rdx
        .cfi_adjust_cfa_offset -8
        pop     %rsi
        .cfi_adjust_cfa_offset -8
        pop     %rdi
        .cfi_adjust_cfa_offset -8
        /* libc's function need not begin with endbr64. */
        notrack jmp *%r11
        .cfi_endproc
.size \name, . - \name
.endm

TELL_FIRST setjmp
TELL_FIRST _setjmp
TELL_FIRST __sigsetjmp
TELL_FIRST getcontext
TELL_FIRST swapcontext
TELL_FIRST makecontext
TELL_FIRST syscall

        .section .note.GNU-stack, "", @progbits
