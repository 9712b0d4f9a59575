// SPDX-License-Identifier: MIT
// The argument text of an SDT note, taken apart: "-4@%edi 8@-8(%rbp)" is an int32 in edi and a uint64 on the stack.
//
// Grammar: [-]SIZE[f]@OPERAND, separated by spaces; the operand is what the assembler of the machine prints, and on ARM
// and AArch64 may hold spaces inside its brackets. https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
// Invariant: an argument that makes no sense is kept as its text; of a hostile note at most 64 arguments are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penna {

struct SdtArg {
  std::string text;     // "-4@%edi"
  std::string operand;  // "%edi"; all of the text when there is no '@'
  uint32_t size = 0;    // bytes; 0: not stated
  bool is_signed = false;
  bool is_float = false;  // 8f@...: the marker of systemtap's sdt.h from 4.8 on
};

std::vector<SdtArg> parse_sdt_args(std::string_view text);

// "s32", "u64", "f64"; "?" when the size is not stated.
std::string sdt_type_name(const SdtArg& arg);
// Of several: "s32, u64".
std::string sdt_types_text(const std::vector<SdtArg>& args);

// What is wrong with an operand for the clients that read it.
enum class OperandTrap : uint8_t {
  kNone,
  kFloatMarker,       // 8f@%xmm0
  kSymbol,            // gv(%rip), $gv: its value is known to the linker only
  kVectorRegister,    // 8@%xmm0
  kByteRegister,      // %r8b to %r15b: gdb calls them r8l to r15l
  kHighByteRegister,  // %ah, %bh, %ch, %dh
  kNarrowRegister,    // w0 to w30 of AArch64
  kIndex,             // (%rax,%rbx,4) or [x0, x1]
  kSize,              // none, or none of 1, 2, 4, 8
  kSyntax,            // anything else that is no constant, register or register + number
};

// True when the operands of notes for this machine (EM_*) can be checked: x86-64, i386, AArch64, ARM.
bool knows_sdt_operands(int machine);
OperandTrap operand_trap(const SdtArg& arg, int machine);

}  // namespace penna
