// SPDX-License-Identifier: MIT
// Selects the header of the target processor, for what src/agent/patch needs to know about code.
//
// An arch header defines: has_xsave(); kLongestCall; SilentCall, silent_call(resume); call_refers_to(resume).
#pragma once

#if defined(__x86_64__)
#include "agent/patch/arch_x86_64.h"
#else
#error "penna_agent knows x86-64 only: add src/agent/patch/arch_<processor>.h"
#endif
