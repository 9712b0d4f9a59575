/* SPDX-License-Identifier: MIT
 * What an image needs from its machine: a serial line, timer interrupts, a way to end. One file for each processor. */
#ifndef EXAMPLE_MACHINE_H
#define EXAMPLE_MACHINE_H

#include <stdint.h>

extern const char machine_name[];

void machine_begin(void);               /* before main */
_Noreturn void machine_end(int status); /* after it: the emulator ends with this status, or another one that is not 0 */
void machine_put(char c);               /* on the serial line */

/* machine_start_timer(): interrupts occur from now on, kTimerRate a second; the other function waits for one. */
enum { kTimerRate = 100 };
void machine_start_timer(void);
void machine_wait_for_interrupt(void);

void on_tick(void); /* ours: called by each interrupt, with interrupts off */

#endif
