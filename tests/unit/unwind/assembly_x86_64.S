// SPDX-License-Identifier: MIT
// Functions without call frame information: void f(void (*callback)(void*), void* argument); and one with it.
        .text

// Keeps no frame pointer: rbp stays that of a caller.
        .globl  penna_test_no_cfi
        .type   penna_test_no_cfi, @function
penna_test_no_cfi:
        sub     $24, %rsp
        mov     %rdi, %rax
        mov     %rsi, %rdi
        call    *%rax
        add     $24, %rsp
        ret
        .size   penna_test_no_cfi, . - penna_test_no_cfi

// Keeps a frame pointer.
        .globl  penna_test_no_cfi_frame
        .type   penna_test_no_cfi_frame, @function
penna_test_no_cfi_frame:
        push    %rbp
        mov     %rsp, %rbp
        sub     $32, %rsp
        mov     %rdi, %rax
        mov     %rsi, %rdi
        call    *%rax
        leave
        ret
        .size   penna_test_no_cfi_frame, . - penna_test_no_cfi_frame

// As __do_global_dtors_aux of each module.
        .globl  penna_test_no_cfi_compares
        .type   penna_test_no_cfi_compares, @function
penna_test_no_cfi_compares:
        push    %rbp
        cmpq    $0, penna_test_no_cfi(%rip)
        mov     %rsp, %rbp
        mov     %rdi, %rax
        mov     %rsi, %rdi
        call    *%rax
        pop     %rbp
        ret
        .size   penna_test_no_cfi_compares, . - penna_test_no_cfi_compares

// Keeps a frame pointer, and below it something that looks like the return address of an indirect call.
        .globl  penna_test_no_cfi_frame_and_address
        .type   penna_test_no_cfi_frame_and_address, @function
penna_test_no_cfi_frame_and_address:
        push    %rbp
        mov     %rsp, %rbp
        lea     1f(%rip), %rax
        push    %rax
        push    %rax
        mov     %rdi, %rax
        mov     %rsi, %rdi
        call    *%rax
1:
        leave
        ret
        .size   penna_test_no_cfi_frame_and_address, . - penna_test_no_cfi_frame_and_address

// Leaves garbage in rbp while it calls.
        .globl  penna_test_no_cfi_garbage
        .type   penna_test_no_cfi_garbage, @function
penna_test_no_cfi_garbage:
        push    %rbp
        mov     $0x123456789abcdef8, %rbp
        mov     %rdi, %rax
        mov     %rsi, %rdi
        call    *%rax
        pop     %rbp
        ret
        .size   penna_test_no_cfi_garbage, . - penna_test_no_cfi_garbage

// With CFI: void penna_test_single_step(void (*function)(Chain&), Chain&) runs function with the trap flag set.
        .globl  penna_test_single_step
        .type   penna_test_single_step, @function
penna_test_single_step:
        .cfi_startproc
        push    %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbx, 0
        mov     %rdi, %rbx
        mov     %rsi, %rdi
        pushfq
        .cfi_adjust_cfa_offset 8
        orl     $0x100, (%rsp)
        popfq
        .cfi_adjust_cfa_offset -8
        call    *%rbx
        pushfq
        .cfi_adjust_cfa_offset 8
        andl    $~0x100, (%rsp)
        popfq
        .cfi_adjust_cfa_offset -8
        pop     %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbx
        ret
        .cfi_endproc
        .size   penna_test_single_step, . - penna_test_single_step

        .section .note.GNU-stack,"",@progbits
