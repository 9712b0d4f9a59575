// SPDX-License-Identifier: MIT
// The parsed argument text of an SDT note: "-4@%edi 8@-8(%rbp)" is an int32 in edi and a uint64 on the stack.
//
// Grammar: [-]SIZE[f]@OPERAND, separated by spaces; the operand is in the machine's assembler syntax, and on ARM and
// AArch64 may have spaces inside its brackets. https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
// Invariant: an argument that makes no sense is kept as its text; a hostile note yields at most 64 arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penna {

struct SdtArg {
  std::string text;     // "-4@%edi"
  std::string operand;  // "%edi"; the whole text if there is no '@'
  uint32_t size = 0;    // bytes; 0: not stated
  bool is_signed = false;
  bool is_float = false;  // 8f@...: the marker of systemtap's sdt.h from 4.8 on
};

std::vector<SdtArg> parse_sdt_args(std::string_view text);

// "s32", "u64", "f64"; "?" if the size is not stated.
std::string sdt_type_name(const SdtArg& arg);
// For several: "s32, u64".
std::string sdt_types_text(const std::vector<SdtArg>& args);

// What clients that read an operand trip over.
enum class OperandTrap : uint8_t {
  kNone,
  kFloatMarker,       // 8f@%xmm0
  kSymbol,            // gv(%rip), $gv: only the linker knows its value
  kVectorRegister,    // 8@%xmm0
  kByteRegister,      // %r8b to %r15b: gdb calls them r8l to r15l
  kHighByteRegister,  // %ah, %bh, %ch, %dh
  kNarrowRegister,    // w0 to w30 of AArch64
  kIndex,             // (%rax,%rbx,4) or [x0, x1]
  kSize,              // missing, or not 1, 2, 4 or 8
  kSyntax,            // anything else that is not a constant, register or register + number
};

// True if the operands of notes for this machine (EM_*) can be checked: x86-64, i386, AArch64, ARM.
bool knows_sdt_operands(int machine);
OperandTrap operand_trap(const SdtArg& arg, int machine);

}  // namespace penna
