/* SPDX-License-Identifier: MIT
 * Code that a recorder makes a thread of a running process execute, and the way back from it
 * (reach/process/remote_call.h).
 *
 * Why the thread returns by itself: the recorder restores it, unless the recorder was killed meanwhile. So all that is
 * needed to restore the thread lies on its stack before it starts: a frame like a signal handler's, through which the
 * code returns (rt_sigreturn(2)) after some pauses at its end. That makes the kernel forget how much of a sleep is
 * left. So a thread that was sleeping restores its own state, from a copy of the frame below its own red zone, where
 * signals may arrive, and asks for the rest of the sleep (restart_syscall(2)).
 * Invariant: the thread continues with the registers and the signal mask it had, whichever process dies. x86-64.
 *
 *   stack_top  -----------------------------------------------
 *              vector state (NT_X86_XSTATE), 64-byte aligned
 *              the kernel's ucontext                             <- %rdi where the code begins
 *              penna_remote_home: 8 bytes, 1 once it goes home
 *              penna_remote_sleep: 8 bytes, not 0 if it sleeps   <- %rsp where the code begins, 16-byte aligned
 */
#ifndef PENNA_DETAIL_REMOTE_H
#define PENNA_DETAIL_REMOTE_H

#include "penna/detail/each.h"

/* Iterations at the end, of 10 to 50 ns each: the recorder intervenes within 2 ms, unless the machine is busy. No clock
 * is read: a program may have forbidden rdtsc. */
#define PENNA_REMOTE_PAUSES 0x200000

#define PENNA_REMOTE_HOME -8 /* from the ucontext */
#define PENNA_REMOTE_SLEEP -16
#define PENNA_REMOTE_CONTEXT_BYTES 304
#define PENNA_REMOTE_BELOW 432 /* of the stack pointer: the red zone, and the copy of the ucontext */

enum {
  PENNA_REMOTE_END_BYTES = 6,    /* of the loop at the end: pause, dec, jnz */
  PENNA_REMOTE_TAIL_BYTES = 256, /* at most, of the loop and everything after it */
  PENNA_REMOTE_STACK = 64 << 10  /* at least; AMX makes the vector state 11 KiB */
};

/* clang-format off */
/* Finishes a system call that our stop has cut short (reach/process/cut_call_x86_64.h). %rsp: how much it had done, its
 * rdi, rsi, rdx and r10, where it returns to, its stack. An error counts as nothing: the next call will show what comes
 * of it. The flags are those of the call, from r11. Position-independent; not part of what lies behind `end`, because a
 * thread may stay here for as long as the call lasts. */
#define PENNA_REMOTE_FINISH                                        \
  "syscall\n test %rax, %rax\n jns 1f\n xor %eax, %eax\n"          \
  "1: add (%rsp), %rax\n"                                          \
  "mov 8(%rsp), %rdi\n mov 16(%rsp), %rsi\n mov 24(%rsp), %rdx\n" \
  "mov 32(%rsp), %r10\n mov 40(%rsp), %rcx\n"                      \
  "push %r11\n popf\n"                                             \
  "mov 48(%rsp), %rsp\n jmp *%rcx\n"

/* Assembler text: `entry`, which lies behind PENNA_REMOTE_FINISH, calls `function`, which is async-signal-safe, and
 * ends in the loop at `end`. On return to a sleep it restores: vector state, stack, flags, mask, all other registers
 * except those that the system call to come clobbers (rcx, r11). Of the vector state only the parts that the frame has
 * (xfeatures): asked for more, the processor may read past it. Offsets from %rbx are those of the kernel's ucontext
 * (asm/ucontext.h, asm/sigcontext.h). */
#define PENNA_REMOTE_CODE(entry, end, function)                    \
  PENNA_REMOTE_FINISH                                              \
  entry ": mov %rdi, %rbx\n"                                       \
  "call " function "\n"                                            \
  "mov $" PENNA_STRING_OF(PENNA_REMOTE_PAUSES) ", %ecx\n"          \
  end ": pause\n dec %ecx\n jnz " end "\n"                        \
  "movq $1, " PENNA_STRING_OF(PENNA_REMOTE_HOME) "(%rbx)\n"        \
  "cmpq $0, " PENNA_STRING_OF(PENNA_REMOTE_SLEEP) "(%rbx)\n"       \
  "jne 1f\n"                                                       \
  "mov %rbx, %rsp\n mov $15, %eax\n syscall\n ud2\n"                /* rt_sigreturn */ \
  "1: mov 224(%rbx), %rcx\n"                                         /* fpstate */ \
  "mov 472(%rcx), %eax\n mov 476(%rcx), %edx\n"                     /* its sw_reserved.xfeatures */ \
  "xrstor64 (%rcx)\n"                                              \
  "mov 160(%rbx), %rsp\n"                                           /* rsp; the copy goes below it */ \
  "lea -" PENNA_STRING_OF(PENNA_REMOTE_BELOW) "(%rsp), %rsp\n"     \
  "mov %rbx, %rsi\n mov %rsp, %rdi\n"                              \
  "mov $" PENNA_STRING_OF(PENNA_REMOTE_CONTEXT_BYTES) ", %ecx\n"   \
  "rep movsb\n"                                                    \
  "mov %rsp, %rbx\n"                                               \
  "pushq 176(%rbx)\n popfq\n"                                       /* eflags */ \
  "mov $14, %eax\n mov $2, %edi\n lea 296(%rbx), %rsi\n"            /* rt_sigprocmask(SIG_SETMASK, uc_sigmask) */ \
  "mov $0, %edx\n mov $8, %r10d\n syscall\n"                       \
  "mov 40(%rbx), %r8\n mov 48(%rbx), %r9\n mov 56(%rbx), %r10\n"    /* r8 to r15 */ \
  "mov 72(%rbx), %r12\n mov 80(%rbx), %r13\n mov 88(%rbx), %r14\n" \
  "mov 96(%rbx), %r15\n mov 104(%rbx), %rdi\n"                     \
  "mov 112(%rbx), %rsi\n mov 120(%rbx), %rbp\n"                    \
  "mov 136(%rbx), %rdx\n mov 168(%rbx), %rcx\n"                     /* rdx; rip */ \
  "mov 128(%rbx), %rbx\n"                                          \
  "lea " PENNA_STRING_OF(PENNA_REMOTE_BELOW) "(%rsp), %rsp\n"      \
  "mov $219, %eax\n jmp *%rcx\n"                                    /* restart_syscall */
/* clang-format on */

#endif
