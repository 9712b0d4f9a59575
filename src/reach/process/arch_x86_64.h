// SPDX-License-Identifier: MIT
// x86-64 as seen through ptrace(2). Reference: arch/x86/include/uapi/asm/ptrace.h.
//
// Invariant: a 32-bit thread has other registers, and is rejected by their size.
#pragma once

#include <sys/user.h>

#include <array>
#include <cstdint>

namespace penna {

// The kernel says how many bytes it has filled in: 27 words for a 64-bit thread, fewer for a 32-bit one.
using GeneralRegisters = user_regs_struct;  // NT_PRSTATUS

inline constexpr uint8_t kBreakpointByte = 0xcc;                   // int3
inline constexpr std::array<uint8_t, 2> kEndlessLoop{0xeb, 0xfe};  // jmp to itself

inline constexpr uint16_t kMachineOfFiles = 62;  // EM_X86_64

// Below the stack pointer, where functions that call none keep variables.
inline constexpr int64_t kRedZone = 128;  // bytes

// The relocation whose value is the module's bias plus an addend.
inline constexpr uint32_t kRelativeRelocation = 8;  // R_X86_64_RELATIVE
// For imports; for the function that finds a thread-local variable (its first word); for a module's number.
inline constexpr uint32_t kImportRelocation = 6;   // R_X86_64_GLOB_DAT
inline constexpr uint32_t kThreadRelocation = 36;  // R_X86_64_TLSDESC
inline constexpr uint32_t kModuleRelocation = 16;  // R_X86_64_DTPMOD64

}  // namespace penna
