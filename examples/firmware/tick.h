/* SPDX-License-Identifier: MIT */
#ifndef EXAMPLE_TICK_H
#define EXAMPLE_TICK_H

#include "machine.h"

enum { kThreadMain = 1, kThreadInterrupt = 2 };
uint32_t who_runs(void);
extern volatile uint32_t ticks;

#endif
