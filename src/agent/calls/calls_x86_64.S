/* SPDX-License-Identifier: MIT
 *
 * Entry and exit of functions, x86-64: the hook that instrumented code calls first, and the return trampolines through
 * which such a function returns. See return_trampolines.h for what a trampoline is and why no other state is kept.
 *
 * Why assembly: any register may hold an argument or a result; a compiler's call would save them all.
 * Invariant: every register except the flags and rsp has its value when the function begins, and when it has returned;
 * memory below the stack pointer is written within 128 bytes only, which signal handlers leave alone (psABI 3.2.2).
 *
 *      penna_call_enter, a function's first instruction             .Lcall_return, in the trampoline
 *
 *        rsp + 8  |  caller  |  will hold the trampoline              rsp      |  the caller's      |
 *        rsp      |  resume  |  in the function                       rsp - 8  |  in the trampoline |  will hold caller
 *        rsp - 8  |  way out |  address of the trampoline             rsp - 16 |  rax               |
 *        rsp - 16 |  rax     |                                           ...   |  as on the left    |
 *        rsp - 24 |  rcx     |
 *        rsp - 32 |  rdx     |
 *        rsp - 40 |  rsi     |
 *        rsp - 48 |  rdi     |
 */
        /* Offsets and constants of the C++ side; call_entry.cc asserts each of them. */
        .set    PROCESS_ARMED, 0
        .set    PROCESS_CHUNKS, 8
        .set    CHUNK_TIME_BEGIN, 8
        .set    CHUNK_PC_HIGH, 64
        .set    CHUNK_BYTES, 0x10000
        .set    CALLS_BIT, 1 << 0
        .set    CALL_TIME_LIMIT, 1 << 29
        .set    TAG_ENTRY, 1
        .set    TAG_EXIT, 2
        .set    TRAMPOLINES, 1 << 17
        .set    MAX_PROBES, 64
        .set    TRAMPOLINE_BYTES, 16
        .set    LINK_BYTES, 32
        .set    LINK_CALLER, 0
        .set    LINK_RESUME, 8
        .set    LINK_FUNCTION, 16
        .set    LINK_WAY, 24
        .set    WAY_ASKS, 1                     /* unusual frame, or values are wanted: always call C++ */
        .set    WAY_JUMPS, 2                    /* no trampoline was called, so none is returned from */
        .set    WAY_STALE, 4                    /* the function must be looked up again */
        .set    WAY_FOLLOWS, 8                  /* the caller is the trampoline of the function that jumped here */
        .set    RETURNS_AT, 4                   /* offset in a trampoline, after its call */
        .set    POP_R10_BYTES, 2

.macro FUNCTION symbol, align=64
        .globl  \symbol
        .type   \symbol, @function
        .balign \align
\symbol:
.endm

.macro KEEP
        mov     %rax, -16(%rsp)
        mov     %rcx, -24(%rsp)
        mov     %rdx, -32(%rsp)
        mov     %rsi, -40(%rsp)
        mov     %rdi, -48(%rsp)
.endm

.macro GIVE_BACK
        mov     -16(%rsp), %rax
        mov     -24(%rsp), %rcx
        mov     -32(%rsp), %rdx
        mov     -40(%rsp), %rsi
        mov     -48(%rsp), %rdi
.endm

/* Pushes the integer registers that KEEP does not save, below what KEEP uses of the red zone; DROP pops them. */
.macro HOLD
        lea     -56(%rsp), %rsp
        .cfi_adjust_cfa_offset 56
        .irp    register, r8, r9, r10, r11
        push    %\register
        .cfi_adjust_cfa_offset 8
        .endr
.endm
.macro DROP
        .irp    register, r11, r10, r9, r8
        pop     %\register
        .cfi_adjust_cfa_offset -8
        .endr
        lea     56(%rsp), %rsp
        .cfi_adjust_cfa_offset -56
.endm

/* Calls the C++ function(rdi, rsi, rdx), preserving everything that KEEP has not saved; returns rax. */
.macro ASK function
        HOLD
        lea     \function(%rip), %rcx
        call    penna_point_preserving
        DROP
.endm

/* Calls the C++ function(CallRegisters of arch_x86_64.h, rsi); otherwise like ASK. */
.macro ASK_WITH_REGISTERS function
        HOLD
        lea     -64(%rsp), %rsp
        .cfi_adjust_cfa_offset 64
        .irp    number, 0, 1, 2, 3, 4, 5, 6, 7
        movq    %xmm\number, 8 * \number(%rsp)
        .endr
        mov     %rsp, %rdi
        lea     \function(%rip), %rcx
        call    penna_point_preserving
        lea     64(%rsp), %rsp
        .cfi_adjust_cfa_offset -64
        DROP
.endm

/* rax caller, rcx resume -> rsi its link; jumps to `unknown` if there is none. Like find() in return_trampolines.cc. */
.macro FIND unknown
        mov     %rax, %rsi
        shr     $1, %rsi
        mov     %rcx, %rdx
        shr     $4, %rdx
        add     %rdx, %rsi
        and     $(TRAMPOLINES - 1), %esi
        shl     $5, %rsi
        lea     penna_return_links(%rip), %rdx
        add     %rdx, %rsi
        jmp     2f
1:      cmpq    $0, LINK_CALLER(%rsi)
        je      \unknown
        add     $LINK_BYTES, %rsi
2:      cmp     %rax, LINK_CALLER(%rsi)
        jne     1b
        cmp     %rcx, LINK_RESUME(%rsi)
        jne     1b
.endm

/* rdx: the distance of `thread` from the thread pointer. In the standalone agent (standalone/thread_x86_64.S) it also
 * clobbers rax, and what KEEP has stored below the stack pointer is preserved. */
.macro THREAD_OFFSET
#ifdef PENNA_STANDALONE
        lea     -64(%rsp), %rsp
        .cfi_adjust_cfa_offset 64
        call    penna_thread_offset
        lea     64(%rsp), %rsp
        .cfi_adjust_cfa_offset -64
        mov     %rax, %rdx
#else
        mov     _ZN5penna5agent6threadE@gottpoff(%rip), %rdx
#endif
.endm

/* rcx function: writes its call record, like write_call() in writer.h. Clobbers rax, rdx, rsi, rdi. */
.macro RECORD tag, no_room, far
        THREAD_OFFSET
        mov     $8, %esi
        xadd    %rsi, %fs:(%rdx)                /* thread.cursor: chunk number << 32, offset */
        mov     %esi, %edi
        cmp     $(CHUNK_BYTES - 8), %edi
        ja      \no_room
        shr     $16, %rsi                       /* chunk number << 16; the offset is shifted out */
        add     _ZN5penna5agent7processE + PROCESS_CHUNKS(%rip), %rsi
        add     %rsi, %rdi
        rdtsc
        shl     $32, %rdx
        or      %rdx, %rax
        mov     %rax, %rdx
        sub     CHUNK_TIME_BEGIN(%rsi), %rdx
        cmp     $CALL_TIME_LIMIT, %rdx
        jae     \far
        mov     %rcx, %rdx
        shr     $32, %rdx
        cmp     CHUNK_PC_HIGH(%rsi), %edx
        jne     \far
        shl     $32, %rcx
        lea     \tag(, %rax, 4), %eax
        or      %rcx, %rax
        mov     %rax, (%rdi)                    /* one store, which commits the record */
.endm

/* rcx resume: is the next instruction of the function pop %r10 (41 5a)? A byte follows the first one, a prefix. */
.macro IF_POPS_R10 else
        cmpb    $0x41, (%rcx)
        jne     \else
        cmpb    $0x5a, 1(%rcx)
        jne     \else
.endm

/* rax in a trampoline -> rcx its function; clobbers rax. */
.macro FUNCTION_OF_TRAMPOLINE
        lea     penna_return_trampolines(%rip), %rcx
        sub     %rcx, %rax
        and     $-TRAMPOLINE_BYTES, %rax
        lea     penna_return_links(%rip), %rcx
        mov     LINK_FUNCTION(%rcx, %rax, LINK_BYTES / TRAMPOLINE_BYTES), %rcx
.endm

/* The slow path of RECORD. */
.macro RECORD_ELSEWHERE tag, back
91:     mov     %rsi, %rdx
        mov     $\tag, %esi
        mov     %rcx, %rdi
        ASK     penna_call_in_new_chunk
        jmp     \back
92:     mov     %rdi, %rdx
        mov     $\tag, %esi
        mov     %rcx, %rdi
        ASK     penna_call_far
        jmp     \back
.endm

        .text

/* The first call in a function: -pg -mfentry, a patched slot, a detour, a PLT entry. */
FUNCTION __fentry__
        .cfi_startproc
        endbr64
        cmpq    $0, penna_libc_fentry(%rip)
        jne     penna_count_fentry              /* gprof counts first: gprof_x86_64.S */
        .hidden penna_call_enter
        .globl  penna_call_enter
penna_call_enter:
        endbr64
        testl   $CALLS_BIT, _ZN5penna5agent7processE + PROCESS_ARMED(%rip)
        jz      .Lenter_unarmed
        KEEP
        mov     8(%rsp), %rax
        mov     (%rsp), %rcx
        FIND    .Lenter_unknown
        mov     LINK_WAY(%rsi), %rdx
        mov     LINK_FUNCTION(%rsi), %rcx
        test    $(WAY_ASKS | WAY_STALE | WAY_FOLLOWS), %dl
        jnz     .Lenter_otherwise
        mov     %rdx, -8(%rsp)
.Lenter_record:
        RECORD  TAG_ENTRY, 91f, 92f
        /* Drops both addresses, which stay readable in the red zone. The trampoline calls resume, now at rsp - 16, and
         * thereby pushes its own return address to where the caller's was: the call and the return of the function
         * pair for the processor's predictor. */
.Lenter:
        GIVE_BACK
        lea     16(%rsp), %rsp
        .cfi_remember_state
        .cfi_def_cfa_offset -8                  /* still inside the function, whose return address is above */
        notrack jmp *-24(%rsp)
        .cfi_restore_state
        RECORD_ELSEWHERE TAG_ENTRY, .Lenter

        /* A known tail call: the function that jumped, whose trampoline is the return address, ends here. */
.Lenter_otherwise:
        test    $(WAY_ASKS | WAY_STALE), %dl
        jnz     .Lenter_asks
        sub     $WAY_FOLLOWS, %rdx
        jz      .Lenter_passes                  /* no trampoline: such a call is not recorded */
        mov     %rdx, -8(%rsp)
        FUNCTION_OF_TRAMPOLINE
        RECORD  TAG_EXIT, 91f, 92f
.Lenter_left:
        mov     8(%rsp), %rax
        mov     (%rsp), %rcx
        FIND    .Lenter_unknown
        mov     LINK_FUNCTION(%rsi), %rcx
        jmp     .Lenter_record
        RECORD_ELSEWHERE TAG_EXIT, .Lenter_left
.Lenter_unarmed:
        cmpl    $0, _ZN5penna5agent7processE + PROCESS_ARMED(%rip)
        jne     .Lenter_standalone                   /* not zero: the recorder was met, but does not want calls */
        KEEP
        jmp     .Lenter_asks

        /* A nested function finds its parent's frame through r10, which is pushed around the hook: the caller's address
         * is above it. The link says that this was checked (keeps_chain() in call_entry.cc). The pop is done here and
         * skipped there, so the trampoline calls this function like any other. */
.Lenter_unknown:
        IF_POPS_R10 else=.Lenter_asks
        mov     16(%rsp), %rax
        FIND    .Lenter_asks
        mov     LINK_WAY(%rsi), %rdx
        mov     LINK_FUNCTION(%rsi), %rcx
        test    $(WAY_ASKS | WAY_STALE | WAY_FOLLOWS), %dl
        jnz     .Lenter_asks
        mov     %rdx, -8(%rsp)
        RECORD  TAG_ENTRY, 91f, 92f
.Lenter_chained:
        mov     8(%rsp), %r10
        mov     (%rsp), %rax
        add     $POP_R10_BYTES, %rax
        mov     %rax, 8(%rsp)
        mov     -8(%rsp), %rax
        mov     %rax, (%rsp)
        GIVE_BACK
        lea     24(%rsp), %rsp
        .cfi_remember_state
        .cfi_def_cfa_offset -8
        notrack jmp *-24(%rsp)
        .cfi_restore_state
        RECORD_ELSEWHERE TAG_ENTRY, .Lenter_chained

.Lenter_asks:
        mov     %rbp, -56(%rsp)
        xor     %esi, %esi
        ASK_WITH_REGISTERS penna_call_meet
        mov     %rax, -8(%rsp)
        test    %rax, %rax
        jz      .Lenter_passes
        mov     (%rsp), %rcx
        IF_POPS_R10 else=.Lenter
        jmp     .Lenter_chained
.Lenter_passes:
        GIVE_BACK
.Lenter_standalone:
        ret
        .cfi_endproc
.size __fentry__, . - __fentry__

/* -pg: called after the prologue, with a frame pointer. Changes the function's return address in place. */
FUNCTION mcount
        .globl  _mcount
        .type   _mcount, @function
_mcount:
        .cfi_startproc
        endbr64
        cmpq    $0, penna_libc_mcount(%rip)
        jne     penna_count_mcount
        .hidden penna_call_mcount
        .globl  penna_call_mcount
penna_call_mcount:
        testl   $CALLS_BIT, _ZN5penna5agent7processE + PROCESS_ARMED(%rip)
        jz      .Lmcount_unarmed
        KEEP
        mov     8(%rbp), %rax
        mov     (%rsp), %rcx
        FIND    .Lmcount_unknown
        mov     LINK_WAY(%rsi), %rdx
        mov     LINK_FUNCTION(%rsi), %rcx
        test    $(WAY_ASKS | WAY_STALE | WAY_FOLLOWS), %dl
        jnz     .Lmcount_otherwise
        add     $(RETURNS_AT - WAY_JUMPS), %rdx
        mov     %rdx, 8(%rbp)
.Lmcount_record:
        RECORD  TAG_ENTRY, 91f, 92f
.Lmcount:
        GIVE_BACK
.Lmcount_standalone:
        ret
        RECORD_ELSEWHERE TAG_ENTRY, .Lmcount

        /* A tail call, as above. */
.Lmcount_otherwise:
        test    $(WAY_ASKS | WAY_STALE), %dl
        jnz     .Lmcount_asks
        add     $(RETURNS_AT - WAY_FOLLOWS), %rdx
        mov     %rdx, 8(%rbp)
        FUNCTION_OF_TRAMPOLINE
        RECORD  TAG_EXIT, 91f, 92f
.Lmcount_left:
        mov     8(%rbp), %rax
        FUNCTION_OF_TRAMPOLINE
        jmp     .Lmcount_record
        RECORD_ELSEWHERE TAG_EXIT, .Lmcount_left
.Lmcount_unarmed:
        cmpl    $0, _ZN5penna5agent7processE + PROCESS_ARMED(%rip)
        jne     .Lmcount_standalone
        KEEP
.Lmcount_asks:
.Lmcount_unknown:
        mov     %rbp, %rsi
        ASK_WITH_REGISTERS penna_call_meet
        jmp     .Lmcount
        .cfi_endproc
.size mcount, . - mcount

/* The exception in rax continues from a trampoline to that one's caller, rdx. With rdx as its return address, this is a
 * frame like any other. */
        .hidden penna_call_unwind_on
FUNCTION penna_call_unwind_on
        .cfi_startproc
        .cfi_def_cfa rsp, 0
        .cfi_register rip, rdx
        push    %rdx
        .cfi_adjust_cfa_offset 8
        .cfi_offset rip, -8
        sub     $8, %rsp
        .cfi_adjust_cfa_offset 8
        mov     %rax, %rdi
        call    *penna_call_resume(%rip)
        ud2
        .cfi_endproc
.size penna_call_unwind_on, . - penna_call_unwind_on

/* The trampolines. Each calls the address at rsp - 16, which returns to the next instruction: so each is the return
 * address of one link. Each contains the offset of its link, for unwinders.
 *
 * Their unwind information says that they are the link's caller. An unwinder reads rip from the stack each time that it
 * needs it, so a recorder that leaves in between may have put back the caller there: that is no trampoline, which
 * begins with the instruction below. (DWARF 5, 2.5.1)
 * breg16 0; const1s -16; and; dup; deref_size 4; const4u "call *-16(%rsp)"; ne; bra 1f;
 * plus_uconst 12; dup; deref_size 4; plus; deref; skip 2f; 1: drop; breg16 0; 2:
 * rsp is unchanged, except for what tell_apart() in unwinder.h adds: breg7 0; const1s -8; and. */
        .hidden penna_return_trampolines
        .hidden penna_return_links
FUNCTION penna_return_trampolines, 4096
        .cfi_startproc
        .cfi_personality 0x1b, penna_return_personality
        .cfi_def_cfa rsp, 0
        .cfi_escape 0x16, 7, 5, 0x77, 0, 0x09, 0xf8, 0x1a
        .cfi_escape 0x16, 0x10, 30, 0x80, 0, 0x09, 0xf0, 0x1a
        .cfi_escape 0x12, 0x94, 4, 0x0c, 0xff, 0x54, 0x24, 0xf0, 0x2e, 0x28, 10, 0
        .cfi_escape 0x23, 12, 0x12, 0x94, 4, 0x22, 0x06, 0x2f, 3, 0, 0x13, 0x80, 0
        .set    number, 0
        .rept   TRAMPOLINES + MAX_PROBES
        call    *-16(%rsp)
        .byte   0xe9                            /* jmp, in its long form */
        .long   .Lcall_return - . - 4
        .byte   0xcc, 0xcc, 0xcc
        .long   penna_return_links + number * LINK_BYTES - .
        .set    number, number + 1
        .endr
        .cfi_endproc
        .if . - penna_return_trampolines != (TRAMPOLINES + MAX_PROBES) * TRAMPOLINE_BYTES
        .error "a trampoline has the wrong size"
        .endif

/* Where every function that was entered above returns: rsp - 8 holds the address in its trampoline. No separate symbol:
 * debuggers step through code without line numbers one symbol at a time, and would stop here. */
        .fill   64, 1, 0xcc                     /* lets disassemblers resynchronise after the data */
.Lcall_return:
        .cfi_startproc
        .cfi_def_cfa rsp, 0
        /* rip = link.caller, found by the word at CFA - 8 as below for the trampolines:
         * lit8; minus; deref; const1s -16; and; plus_uconst 12; dup; deref_size 4; plus; deref */
        .cfi_escape 0x16, 0x10, 13, 0x38, 0x1c, 0x06, 0x09, 0xf0, 0x1a, 0x23, 12, 0x12, 0x94, 4, 0x22, 0x06
        KEEP
        mov     -8(%rsp), %rsi
        lea     penna_return_trampolines(%rip), %rcx
        sub     %rcx, %rsi
        and     $-TRAMPOLINE_BYTES, %rsi
        lea     penna_return_links(%rip), %rcx
        lea     (%rcx, %rsi, LINK_BYTES / TRAMPOLINE_BYTES), %rsi
        mov     LINK_CALLER(%rsi), %rax
        mov     LINK_FUNCTION(%rsi), %rcx
        mov     LINK_WAY(%rsi), %rdx
        mov     %rax, -8(%rsp)
        .cfi_offset rip, -8
        mov     %rdx, -56(%rsp)
        testl   $CALLS_BIT, _ZN5penna5agent7processE + PROCESS_ARMED(%rip)
        jz      .Lreturn
        test    $WAY_ASKS, %dl
        jnz     .Lreturn_asks
        RECORD  TAG_EXIT, 91f, 92f
.Lreturn:
        GIVE_BACK
        testb   $WAY_JUMPS, -56(%rsp)
        jnz     1f
        lea     -8(%rsp), %rsp
        .cfi_remember_state
        .cfi_def_cfa_offset 8
        ret                                     /* predicted: pairs with the call by the caller or the trampoline */
        .cfi_restore_state
1:      notrack jmp *-8(%rsp)
.Lreturn_asks:
        ASK_WITH_REGISTERS penna_call_leave
        jmp     .Lreturn
        RECORD_ELSEWHERE TAG_EXIT, .Lreturn
        .cfi_endproc
.size penna_return_trampolines, . - penna_return_trampolines

        .bss
        .balign 4096
        .globl  penna_return_links
        .type   penna_return_links, @object
penna_return_links:
        .zero   (TRAMPOLINES + MAX_PROBES) * LINK_BYTES
.size penna_return_links, . - penna_return_links

        .section .note.GNU-stack, "", @progbits
