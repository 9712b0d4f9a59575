/* SPDX-License-Identifier: MIT
 * Code that a recorder lets a thread of a running process execute, and the way back from it (attach/remote_call.h).
 *
 * Why the thread finds home by itself: the recorder puts it back, unless it was killed meanwhile. So all that puts it back lies on its
 * stack before it goes: a frame as a signal handler has one, and behind some pauses at its end the code returns from it (rt_sigreturn(2)).
 * Invariant: the thread goes on with the registers and the signal mask it had, whoever dies. x86-64.
 *
 *   stack_top  -----------------------------------------------
 *              vector state (NT_X86_XSTATE), 64-byte aligned
 *              the kernel's ucontext                             <- %rdi where the code begins
 *              penna_remote_home: 8 bytes, 1 once it goes home
 *              8 bytes unused                                    <- %rsp where the code begins, 16-byte aligned
 */
#ifndef PENNA_DETAIL_REMOTE_H
#define PENNA_DETAIL_REMOTE_H

#include "penna/detail/each.h"

/* Pauses at the end, of 10 to 50 ns each: the recorder comes within 2 ms, unless the machine is busy. No clock is asked: a program may have forbidden rdtsc. */
#define PENNA_REMOTE_PAUSES 0x200000

#define PENNA_REMOTE_HOME -8 /* from the ucontext */

enum {
  PENNA_REMOTE_END_BYTES = 6,   /* of the loop at the end: pause, dec, jnz */
  PENNA_REMOTE_STACK = 64 << 10 /* at least; AMX makes the vector state 11 KiB */
};

/* clang-format off */
/* Assembler text: `entry` calls `function`, which is async-signal-safe, and ends in the loop at `end`. */
#define PENNA_REMOTE_CODE(entry, end, function)                    \
  entry ": mov %rdi, %rbx\n"                                       \
  "call " function "\n"                                            \
  "mov $" PENNA_STRING_OF(PENNA_REMOTE_PAUSES) ", %ecx\n"          \
  end ": pause\n dec %ecx\n jnz " end "\n"                        \
  "movq $1, " PENNA_STRING_OF(PENNA_REMOTE_HOME) "(%rbx)\n"        \
  "mov %rbx, %rsp\n mov $15, %eax\n syscall\n ud2\n"
/* clang-format on */

#endif
