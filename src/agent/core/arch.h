// SPDX-License-Identifier: MIT
// Picks the header of the processor we are built for: what all of the agent knows about one.
//
// An arch header defines: kMachine and the relocations kJumpSlot, kGlobDat and kWord; behind_mark(function) and
// kEntryMark; copy_many(), fill_many(); PENNA_PASS_ON(name, before); perhaps PENNA_FIRST_GLIBC.
#pragma once

#if defined(__x86_64__)
#include "agent/core/arch_x86_64.h"
#else
#error "penna_agent knows x86-64 only: add src/agent/core/arch_<processor>.h"
#endif
