/* SPDX-License-Identifier: MIT
 *
 * starts.h: how a process tells the recorder that it is about to start a program which no dynamic linker loads, so that
 * the agent cannot be preloaded. The recorder holds that program at its start and loads the agent into it.
 *
 * The thread that starts it connects as in "Rendezvous" (penna/channel.h) and answers penna_hello with one of these
 * numbers as `after_exec`, its own id as `parent`, and no descriptor. The recorder sends one byte once it traces the
 * thread. An exec closes the connection. If there is none, the target sends a byte and waits until the recorder closes:
 * then no process traces the thread any more.
 * Invariant: the thread's id is untrusted; that it belongs to the process which the kernel names is checked.
 */
#ifndef PENNA_DETAIL_STARTS_H
#define PENNA_DETAIL_STARTS_H

enum {
  PENNA_HELLO_STARTS = 3, /* the thread becomes that program */
  PENNA_HELLO_SPAWNS = 4  /* the next child that it creates does */
};

#endif
