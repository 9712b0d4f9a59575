// SPDX-License-Identifier: MIT
// Selects the header of the target processor: everything that the rest of this folder knows about it.
//
// An arch header defines: Registers, caller_registers(), interrupted_registers(ucontext), thread_pointer(),
// raw_probe(address), preceded_by_call(code), and struct Arch with the DWARF register numbers and the signal frame
// layout.
#pragma once

#if defined(__x86_64__)
#include "unwind/arch_x86_64.h"
#else
#error "penna_unwind knows x86-64 only: add src/unwind/arch_<processor>.h"
#endif
