// SPDX-License-Identifier: MIT
// x86-64 as seen through ptrace(2). Reference: arch/x86/include/uapi/asm/ptrace.h.
//
// Invariant: a 32-bit thread has other registers, and is refused by their size.
#pragma once

#include <sys/user.h>

namespace penna {

using GeneralRegisters = user_regs_struct;  // NT_PRSTATUS

}  // namespace penna
