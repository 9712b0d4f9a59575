// SPDX-License-Identifier: MIT
// Selects the header of the target processor, for what src/agent/calls needs to know about calls and code.
//
// An arch header defines: CallRegisters with integer(), result() and frame_pointer(); Chain and chain_of(resume);
// called_by_mcount(mcount), called_by_fentry(fentry).
#pragma once

#if defined(__x86_64__)
#include "agent/calls/arch_x86_64.h"
#else
#error "penna_agent knows x86-64 only: add src/agent/calls/arch_<processor>.h"
#endif
