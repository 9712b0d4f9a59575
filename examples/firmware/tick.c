/* SPDX-License-Identifier: MIT
 * The code that runs in interrupts; compiled for general registers only, like all such code. */
#include "tick.h"

#include "penna/point.h"

volatile uint32_t ticks;
static volatile uint32_t running = kThreadMain;

uint32_t who_runs(void) { return running; }

void on_tick(void) {
  running = kThreadInterrupt;
  ticks++;
  PENNA_EVENT(fw, tick, ticks);
  running = kThreadMain;
}
