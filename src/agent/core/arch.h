// SPDX-License-Identifier: MIT
// Selects the header of the target processor, for everything in the agent that is not limited to one folder.
//
// An arch header defines: kMachine; the relocation types kJumpSlot, kGlobDat and kWord; after_mark(function) and
// kEntryMark; copy_many() and fill_many(); PENNA_PASS_ON(name, before); optionally PENNA_FIRST_GLIBC.
#pragma once

#if defined(__x86_64__)
#include "agent/core/arch_x86_64.h"
#else
#error "penna_agent knows x86-64 only: add src/agent/core/arch_<processor>.h"
#endif
