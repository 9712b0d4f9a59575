// SPDX-License-Identifier: MIT
// Selects the header of the target processor, for what this folder needs to know about a thread's state.
//
// An arch header defines GeneralRegisters; sources named after the processor (*_x86_64.cc) save, redirect and restore
// threads: thread_state.h.
#pragma once

#if defined(__x86_64__)
#include "reach/process/arch_x86_64.h"
#else
#error "penna_reach knows x86-64 only: add src/reach/arch_<processor>.h and its sources"
#endif
