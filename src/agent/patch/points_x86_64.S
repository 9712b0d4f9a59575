/* SPDX-License-Identifier: MIT
 *
 * How the cold block of a point enters the recorder, x86-64. See penna_point_entries in penna/point_abi.h.
 *
 * Why assembly: a compiler's call would make every function with a point save registers and build a frame, armed or
 * not. Here the cold block jumps, and all registers are preserved except rax, r10, r11 and the flags. What needs more
 * room is C++: for general registers only, or through penna_point_preserving, which keeps the vector state.
 * Invariant: memory below rsp down to rsp - 128 is the interrupted function's (psABI 3.2.2, red zone).
 *
 *      caller's rsp  +--------------------------+  CFA
 *                    |  red zone, 128 bytes     |
 *               -136 |  return address (r11)    |  where C++ is called
 *               -144 |  rdx                     |
 *               -152 |  rcx                     |
 *               -184 |  rdi rsi r8 r9           |  from here on, too, only where C++ is called
 *                    +--------------------------+
 */
        /* Offsets and constants of the C++ side; points.cc asserts each of them. */
        .set    PROCESS_ARMED, 0
        .set    PROCESS_CHUNKS, 8
        .set    STATE_ID, 0
        .set    STATE_BYTES, 4
        .set    STATE_HEAD, 6
        .set    CHUNK_TIME_BEGIN, 8
        .set    CHUNK_BYTES, 0x10000
        .set    POINTS_BIT, 1 << 3
        .set    WITH_STACK, 1
        .set    FAR_TIME_BITS, 47
        .set    PREFETCH, 512

.macro ENTRY symbol
        .globl  \symbol
        .hidden \symbol
        .type   \symbol, @function
        .balign 64
\symbol:
        .cfi_startproc
.endm

.macro KEEP register
        push    %\register
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset \register, 0
.endm

.macro GIVE_BACK register
        pop     %\register
        .cfi_adjust_cfa_offset -8
        .cfi_restore \register
.endm

.macro ENTERED
        .cfi_def_cfa    rsp, 0
        .cfi_register   rip, r11
        endbr64
.endm

/* Steps over the red zone and frees two registers. */
.macro STEP_IN
        lea     -152(%rsp), %rsp
        .cfi_adjust_cfa_offset 152
        mov     %rdx, 8(%rsp)
        .cfi_rel_offset rdx, 8
        mov     %rcx, (%rsp)
        .cfi_rel_offset rcx, 0
.endm

.macro STEP_OUT
        mov     (%rsp), %rcx
        .cfi_restore    rcx
        mov     8(%rsp), %rdx
        .cfi_restore    rdx
        lea     152(%rsp), %rsp
        .cfi_adjust_cfa_offset -152
        notrack jmp *%r11
.endm

/* Around a call of C++, which itself saves rbx, rbp and r12 to r15. The stack is not aligned to 16 bytes: code without
 * vector registers does not need that. */
.macro KEEP_REST
        mov     %r11, 16(%rsp)
        .cfi_rel_offset rip, 16
        KEEP    rdi
        KEEP    rsi
        KEEP    r8
        KEEP    r9
.endm

.macro RESTORE_REST
        GIVE_BACK r9
        GIVE_BACK r8
        GIVE_BACK rsi
        GIVE_BACK rdi
        mov     16(%rsp), %r11
        .cfi_register   rip, r11
.endm

        .section .rodata
        .balign 8
far_time:
        .quad   1 << FAR_TIME_BITS

        .text

/* in: rax state, r11 return; out: r10 record or 0. The same steps as reserve_point() in points_record.cc; every
 * instruction counts: rdtsc alone takes 8 of the 12 ns. */
ENTRY penna_point_reserve_entry
        ENTERED
        STEP_IN
        testl   $POINTS_BIT, _ZN5penna5agent7processE + PROCESS_ARMED(%rip)
        jz      .Lnot_armed
#ifdef PENNA_STANDALONE
        mov     %rax, %r10
        call    penna_thread_offset
        xchg    %rax, %r10
#else
        mov     _ZN5penna5agent6threadE@gottpoff(%rip), %r10
#endif
        movzbl  STATE_BYTES(%rax), %ecx
        mov     %ecx, %edx
        xadd    %rdx, %fs:(%r10)                /* thread.cursor: chunk number << 32, offset */
        add     %edx, %ecx
        cmp     $CHUNK_BYTES, %ecx
        ja      .Lno_room
        mov     %edx, %r10d
        shr     $16, %rdx                       /* chunk number << 16; the offset is shifted out */
        add     _ZN5penna5agent7processE + PROCESS_CHUNKS(%rip), %rdx
        add     %rdx, %r10                      /* record */
        prefetchw PREFETCH(%r10)                /* see kPrefetchBytes */
        mov     STATE_ID(%rax), %edx
        mov     %rdx, 8(%r10)
        movzwl  STATE_HEAD(%rax), %ecx
        rdtsc
        shl     $32, %rdx
        or      %rdx, %rax                      /* time */
        mov     %r10, %rdx
        xor     %dx, %dx                        /* the chunk */
        mov     CHUNK_TIME_BEGIN(%rdx), %rdx
        add     far_time(%rip), %rdx
        cmp     %rdx, %rax
        jae     .Ltoo_far
        shl     $16, %rax
        add     %rcx, %rax
        mov     %rax, (%r10)                    /* busy: its length is known even if it stays unfinished */
        .cfi_remember_state                     /* once for each of the paths below */
        .cfi_remember_state
        .cfi_remember_state
        STEP_OUT

        .cfi_restore_state
.Lnot_armed:
        KEEP_REST
        lea     _ZN5penna5agent19reserve_point_firstEjjm(%rip), %rcx
        jmp     1f
        .cfi_restore_state
.Lno_room:
        KEEP_REST                               /* rdx: the reservation that did not fit */
        lea     _ZN5penna5agent26reserve_point_in_new_chunkEjjm(%rip), %rcx
1:      mov     STATE_ID(%rax), %edi
        movzbl  STATE_BYTES(%rax), %esi
        shr     $3, %esi
        jmp     2f
        .cfi_restore_state
.Ltoo_far:
        KEEP_REST
        mov     8(%r10), %edi                   /* the state is lost by now, but its parts are here */
        movzbl  %ch, %esi
        mov     %r10, %rdx
        lea     _ZN5penna5agent19reserve_point_againEjjm(%rip), %rcx
2:      call    penna_point_preserving
        mov     %rax, %r10
        RESTORE_REST
        STEP_OUT
        .cfi_endproc
.size penna_point_reserve_entry, . - penna_point_reserve_entry

/* in: rax state, r11 return, r10 values */
ENTRY penna_point_values_entry
        ENTERED
        STEP_IN
        KEEP_REST
        mov     %rax, %rdi
        mov     %r10, %rsi
        call    penna_point_values
        RESTORE_REST
        STEP_OUT
        .cfi_endproc
.size penna_point_values_entry, . - penna_point_values_entry

/* Like penna_point_reserve_entry and penna_point_values_entry, if points may be recorded with their stacks. The walk
 * starts with the function that jumped here: no unwinder can follow a return address in a register. */
        .set    ALL_KEPT, 184
ENTRY penna_point_stack_entry
        ENTERED
        testb   $WITH_STACK, STATE_BYTES(%rax)
        jz      penna_point_reserve_entry
        STEP_IN
        KEEP_REST
        mov     %rax, %rdi
        mov     %r11, %rsi
        lea     ALL_KEPT(%rsp), %rdx
        mov     %rbp, %rcx
        call    penna_point_reserve_with_stack
        mov     %rax, %r10
        RESTORE_REST
        STEP_OUT
        .cfi_endproc
.size penna_point_stack_entry, . - penna_point_stack_entry

ENTRY penna_point_stack_values_entry
        ENTERED
        testb   $WITH_STACK, STATE_BYTES(%rax)
        jz      penna_point_values_entry
        STEP_IN
        KEEP_REST
        mov     %rax, %rdi
        mov     %r10, %rsi
        mov     %r11, %rdx
        lea     ALL_KEPT(%rsp), %rcx
        mov     %rbp, %r8
        call    penna_point_values_with_stack
        RESTORE_REST
        STEP_OUT
        .cfi_endproc
.size penna_point_stack_values_entry, . - penna_point_stack_values_entry

/* penna_point_preserving(a, b, c, function): calls function(a, b, c) with the vector and x87 state saved; returns rax.
 * XSAVE of the components x87, SSE, AVX, opmask, ZMM (0xe7); never AMX, which is 8 KiB. SDM volume 1, 13.4. */
        .set    XSAVE_BYTES, 2688
        .set    XSAVE_HEADER, 512
        .set    XSAVE_MASK, 0xe7
ENTRY penna_point_preserving
        endbr64
        KEEP    rbp
        mov     %rsp, %rbp
        .cfi_def_cfa_register rbp
        push    %rbx
        .cfi_offset     rbx, -24
        sub     $XSAVE_BYTES, %rsp
        and     $-64, %rsp
        cmpb    $0, penna_point_has_xsave(%rip)
        je      1f
        mov     %rdx, %rbx
        xor     %eax, %eax                      /* the header must be zero except for what XSAVE writes */
        .set    offset, 0
        .rept   8
        mov     %rax, XSAVE_HEADER + offset(%rsp)
        .set    offset, offset + 8
        .endr
        mov     $XSAVE_MASK, %eax
        xor     %edx, %edx
        xsave   (%rsp)
        mov     %rbx, %rdx
        call    *%rcx
        mov     %rax, %rbx
        mov     $XSAVE_MASK, %eax
        xor     %edx, %edx
        xrstor  (%rsp)
        mov     %rbx, %rax
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
