// SPDX-License-Identifier: MIT
// Picks the header of the processor we are built for: what src/agent/patch knows about one's code.
//
// An arch header defines: has_xsave(); kLongestCall; SilentCall, silent_call(resume); call_refers_to(resume).
#pragma once

#if defined(__x86_64__)
#include "agent/patch/arch_x86_64.h"
#else
#error "penna_agent knows x86-64 only: add src/agent/patch/arch_<processor>.h"
#endif
