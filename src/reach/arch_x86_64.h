// SPDX-License-Identifier: MIT
// x86-64 as ptrace(2) shows it. Reference: arch/x86/include/uapi/asm/ptrace.h.
//
// Invariant: a thread of 32 bits has other registers, and is refused by their size.
#pragma once

#include <sys/user.h>

namespace penna {

using GeneralRegisters = user_regs_struct;  // NT_PRSTATUS

}  // namespace penna
