// SPDX-License-Identifier: MIT
// Selects the header of the target processor: what the rest of this folder knows about its code. Targets are processes
// of this machine, so there is one.
//
// An arch header defines: kMachine, relocations, sizes of what is written over code, kEntryMark, kProbeNop and how code
// looks without being decoded. Sources of the same name (*_x86_64.cc) decode and write it: instruction.h,
// near_memory.h, probe_operand.h, probe_stub.h.
#pragma once

#if defined(__x86_64__)
#include "plan/arch_x86_64.h"
#else
#error "penna_plan knows x86-64 only: add src/plan/arch_<processor>.h and its sources"
#endif
