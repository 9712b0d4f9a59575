/* SPDX-License-Identifier: MIT
 *
 * penna_enter_lock: where calls of patched lock functions go; the function's number lies on the stack, on top of the
 * return address (penna/patch_plan.h: PENNA_PATCH_LOCK). penna_before_lock() decides what follows: a call of the
 * function and then penna_after_lock(), a jump to the function, or nothing more. What arguments and results a function
 * has is unknown here: any register, and some words of the stack.
 *
 * Invariant: all registers are as the function would have left them, also those that a caller may not rely on: a
 * compiler that sees both functions does rely on them (-fipa-ra). Flags are not preserved.
 *
 *   rbp + 8    return address
 *   rbp + 0    the caller's rbp               HookFrame (unwind/arch_x86_64.h)
 *   rbp - 8    number; then, where to jump
 *   rbp - 16   where to call
 *   rbp - 120  LockCall (lock_calls.h)
 *   rbp - 192  integer registers
 *   rbp - 448  vector registers
 *   rbp - 512  copies of eight words of arguments; here rsp points, aligned to 16 as rbp is
 */
#define CALL_AT      -120
#define RESULT       (CALL_AT + 32)
#define RESULT2      (CALL_AT + 40)
#define NUMBER       (CALL_AT + 48)
#define INTEGERS     -192
#define VECTORS      -448
#define FRAME        512

.macro EACH_INTEGER what
        \what   0, %rax
        \what   8, %rcx
        \what   16, %rdx
        \what   24, %rsi
        \what   32, %rdi
        \what   40, %r8
        \what   48, %r9
        \what   56, %r10
        \what   64, %r11
.endm
.macro SAVE_INTEGER at, register
        mov     \register, INTEGERS+\at(%rbp)
.endm
.macro LOAD_INTEGER at, register
        mov     INTEGERS+\at(%rbp), \register
.endm
.macro EACH_VECTOR what
        .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        \what   \n
        .endr
.endm
.macro SAVE_VECTOR n
        movups  %xmm\n, VECTORS+16*\n(%rbp)
.endm
.macro LOAD_VECTOR n
        movups  VECTORS+16*\n(%rbp), %xmm\n
.endm

        .text
        .globl  penna_enter_lock
        .hidden penna_enter_lock
        .type   penna_enter_lock, @function
        .balign 16
penna_enter_lock:
        .cfi_startproc
        /* 0x1b: pc-relative, four bytes, signed (DW_EH_PE_pcrel | DW_EH_PE_sdata4) */
        .cfi_personality 0x1b, penna_lock_personality
        .cfi_def_cfa_offset 16
        endbr64
        xchg    %rbp, (%rsp)                    /* the number is there */
        .cfi_offset rbp, -16
        push    %rbp
        .cfi_adjust_cfa_offset 8
        lea     8(%rsp), %rbp
        .cfi_def_cfa rbp, 16
        sub     $(FRAME - 8), %rsp
        EACH_INTEGER SAVE_INTEGER
        EACH_VECTOR SAVE_VECTOR
        mov     %rdi, CALL_AT(%rbp)
        mov     %rsi, CALL_AT+8(%rbp)
        mov     %rdx, CALL_AT+16(%rbp)
        mov     %rcx, CALL_AT+24(%rbp)
        mov     -8(%rbp), %rax
        mov     %rax, NUMBER(%rbp)
        lea     CALL_AT(%rbp), %rdi
        mov     %rbp, %rsi
        call    penna_before_lock
        mov     %rax, -16(%rbp)
        /* Next::how: 0 call, 1 jump, 2 done */
        cmp     $1, %rdx
        je      1f
        ja      2f

        .irp at, 0, 16, 32, 48                  /* arguments on the stack, if any */
        movups  16+\at(%rbp), %xmm0
        movups  %xmm0, \at(%rsp)
        .endr
        EACH_VECTOR LOAD_VECTOR
        EACH_INTEGER LOAD_INTEGER
        call    *-16(%rbp)
        EACH_INTEGER SAVE_INTEGER
        EACH_VECTOR SAVE_VECTOR
        /* rax and rdx: all that a lock function can return in integer registers (psABI 3.2.3) */
        mov     %rax, RESULT(%rbp)
        mov     %rdx, RESULT2(%rbp)
        lea     CALL_AT(%rbp), %rdi
        mov     %rbp, %rsi
        call    penna_after_lock
        EACH_VECTOR LOAD_VECTOR
        EACH_INTEGER LOAD_INTEGER
        .cfi_remember_state
        leave
        .cfi_def_cfa rsp, 8
        .cfi_restore rbp
        ret

        .cfi_restore_state
1:      mov     %rax, -8(%rbp)
        EACH_VECTOR LOAD_VECTOR
        EACH_INTEGER LOAD_INTEGER
        .cfi_remember_state
        leave
        .cfi_def_cfa rsp, 8
        .cfi_restore rbp
        notrack jmp *-16(%rsp)                  /* rbp - 8; no handler writes there (red zone) */

        .cfi_restore_state
2:      EACH_VECTOR LOAD_VECTOR
        EACH_INTEGER LOAD_INTEGER
        mov     RESULT(%rbp), %rax
        mov     RESULT2(%rbp), %rdx
        leave
        .cfi_def_cfa rsp, 8
        .cfi_restore rbp
        ret
        .cfi_endproc
.size penna_enter_lock, . - penna_enter_lock

        .section .note.GNU-stack, "", @progbits
