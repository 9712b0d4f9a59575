// SPDX-License-Identifier: MIT
// See displaced.h. Reference: Intel SDM, volume 2.
#include "plan/displaced.h"

#include <Zydis/Zydis.h>

#include "plan/instruction.h"

namespace penna {
namespace {

// Zydis numbers the 64-bit registers as machine code does.
uint8_t number_of(ZydisRegister of) {
  return of == ZYDIS_REGISTER_NONE ? ProbeOperand::kNone : static_cast<uint8_t>(of - ZYDIS_REGISTER_RAX);
}

// The address-size prefix (67) makes the registers of an address 32-bit ones: the guardian computes with 64 bits.
bool is_wide(ZydisRegister of) {
  return of == ZYDIS_REGISTER_NONE || (of >= ZYDIS_REGISTER_RAX && of <= ZYDIS_REGISTER_R15);
}

// Where a call of 64 bits leads; nothing: unknown.
std::optional<ProbeOperand> target_of(const ZydisDecodedOperand& operand, size_t length, uint64_t at) {
  ProbeOperand target;
  if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand.imm.is_relative != 0) {
    // Resolved here: `at` is a run-time address, so the target is a constant from now on.
    target.number = static_cast<int64_t>(at + length) + operand.imm.value.s;
    return target;
  }
  if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && is_wide(operand.reg.value)) {
    target.kind = ProbeOperand::kRegister;
    target.base = number_of(operand.reg.value);
    return target;
  }
  if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.size != 64) return {};
  const auto& memory = operand.mem;
  // A ProbeOperand has no segment base.
  if (memory.segment == ZYDIS_REGISTER_FS || memory.segment == ZYDIS_REGISTER_GS) return {};
  target.kind = ProbeOperand::kMemory;
  target.number = memory.disp.value;
  if (memory.base == ZYDIS_REGISTER_RIP) {
    target.number += static_cast<int64_t>(at + length);
    target.base = ProbeOperand::kNone;
    return target;
  }
  if (!is_wide(memory.base) || !is_wide(memory.index)) return {};
  target.base = number_of(memory.base);
  target.index = number_of(memory.index);
  target.scale = memory.scale == 0 ? 1 : memory.scale;
  return target;
}

}  // namespace

DisplacedOffer look_at_displaced(std::span<const uint8_t> code, uint64_t at) {
  // decode() leaves operands out, which cost more than all the rest: only calls need them.
  static const ZydisDecoder decoder = [] {
    ZydisDecoder made;
    ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return made;
  }();
  ZydisDecodedInstruction decoded;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  Instruction kind;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &decoded, operands)) ||
      !decode(code, at, &kind))
    return {{}, "begins with bytes that are no instruction"};
  DisplacedInstruction one;
  one.length = decoded.length;
  switch (kind.kind) {
    case Instruction::kBreakpoint:
    case Instruction::kInterrupt:
    case Instruction::kUndefined: return {{}, "begins with a trap, or another tracer's breakpoint"};
    case Instruction::kNop:
    case Instruction::kMark: one.way = DisplacedInstruction::kNothing; return {one};
    case Instruction::kCall: {
      const auto target = target_of(operands[0], decoded.length, at);
      if (!target) return {{}, "begins with a call of an unusual form"};
      one.way = DisplacedInstruction::kCall;
      one.target = *target;
      return {one};
    }
    case Instruction::kConditional:
      // Of the conditional branches, loop and jrcxz have no form that reaches far; xbegin is a transaction's.
      if (kind.immovable != nullptr) return {{}, "begins with a branch that has only a short form"};
      return {one};
    default:
      // A jump through a pointer does the same everywhere; a relative one is handled by append_moved_code().
      if (kind.kind == Instruction::kJump && kind.immovable != nullptr && kind.target)
        return {{}, "begins with a branch that has only a short form"};
      return {one};
  }
}

}  // namespace penna
