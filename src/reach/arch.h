// SPDX-License-Identifier: MIT
// Picks the header of the processor we are built for: what the rest of this folder knows about a thread's state.
//
// An arch header defines GeneralRegisters; sources of the same name (*_x86_64.cc) save, lead and restore threads:
// thread_state.h.
#pragma once

#if defined(__x86_64__)
#include "reach/arch_x86_64.h"
#else
#error "penna_reach knows x86-64 only: add src/reach/arch_<processor>.h and its sources"
#endif
