// SPDX-License-Identifier: MIT
// See instruction.h, and append_moved_code() in detour.h: instructions of x86-64, decoded by Zydis.
#include "plan/instruction.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace penna {
namespace {

class Decoder {
 public:
  Decoder() { ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64); }
  bool decode(std::span<const uint8_t> code, ZydisDecodedInstruction* instruction) const {
    return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder_, nullptr, code.data(), code.size(), instruction));
  }

 private:
  ZydisDecoder decoder_{};
};

bool is_call(const ZydisDecodedInstruction& one) { return one.meta.category == ZYDIS_CATEGORY_CALL; }
bool is_branch(const ZydisDecodedInstruction& one) {
  return one.meta.category == ZYDIS_CATEGORY_COND_BR || one.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
}
// Zydis calls the distance of a branch an immediate, and only that of memory operands a displacement.
bool is_relative(const ZydisDecodedInstruction& one) { return one.raw.imm[0].is_relative != 0; }
uint64_t relative_target(const ZydisDecodedInstruction& one, uint64_t at) {
  return at + one.length + static_cast<uint64_t>(one.raw.imm[0].value.s);
}
// mod 00 with rm 101 is RIP-relative in 64-bit mode (SDM volume 2, "RIP-Relative Addressing").
bool refers_to_rip(const ZydisDecodedInstruction& one) {
  return (one.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 && one.raw.modrm.mod == 0 && one.raw.modrm.rm == 5;
}
bool has_absolute_displacement(const ZydisDecodedInstruction& one) {  // without a base, perhaps with an index
  return (one.attributes & ZYDIS_ATTRIB_HAS_SIB) != 0 && one.raw.modrm.mod == 0 && one.raw.sib.base == 5;
}
bool has_byte_only_form(const ZydisDecodedInstruction& one) {  // loop, jrcxz
  return one.mnemonic == ZYDIS_MNEMONIC_LOOP || one.mnemonic == ZYDIS_MNEMONIC_LOOPE ||
         one.mnemonic == ZYDIS_MNEMONIC_LOOPNE || one.mnemonic == ZYDIS_MNEMONIC_JRCXZ ||
         one.mnemonic == ZYDIS_MNEMONIC_JECXZ || one.mnemonic == ZYDIS_MNEMONIC_JCXZ;
}

// A call of a fixed place, or through a pointer at one.
bool is_known_call(const ZydisDecodedInstruction& one) {
  return is_call(one) && (is_relative(one) || (one.opcode == 0xff && refers_to_rip(one)));
}

void set_kind(Instruction* one, Instruction::Kind kind, const char* immovable = nullptr) {
  one->kind = kind;
  one->immovable = immovable;
}

// What may not run at another address. loop and jrcxz reach 127 bytes and have no longer form; xbegin's target is
// the address of an abort handler.
const char* why_not_moved(const ZydisDecodedInstruction& branch) {
  if (!is_relative(branch)) return "jumps through a pointer in its first instructions";
  if (has_byte_only_form(branch)) return "loops in its first instructions";
  return branch.mnemonic == ZYDIS_MNEMONIC_XBEGIN ? "begins a transaction in its first instructions" : nullptr;
}

void set_kind(Instruction* one, const ZydisDecodedInstruction& of) {
  constexpr const char* kTrap = "has a breakpoint or a trap in its first instructions";
  switch (of.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      return set_kind(one, Instruction::kCall,
                      is_known_call(of) ? nullptr : "calls through a register in its first instructions");
    case ZYDIS_CATEGORY_COND_BR: return set_kind(one, Instruction::kConditional, why_not_moved(of));
    case ZYDIS_CATEGORY_UNCOND_BR: return set_kind(one, Instruction::kJump, why_not_moved(of));
    case ZYDIS_CATEGORY_RET: return set_kind(one, Instruction::kReturn);
    case ZYDIS_CATEGORY_INTERRUPT:
      return set_kind(one, of.mnemonic == ZYDIS_MNEMONIC_INT3 ? Instruction::kBreakpoint : Instruction::kInterrupt,
                      kTrap);
    default: break;
  }
  switch (of.mnemonic) {
    case ZYDIS_MNEMONIC_NOP: return set_kind(one, Instruction::kNop);
    case ZYDIS_MNEMONIC_UD2: return set_kind(one, Instruction::kUndefined);
    case ZYDIS_MNEMONIC_ENDBR64: return set_kind(one, Instruction::kMark);
    default: return set_kind(one, Instruction::kOther);
  }
}

// A call becomes a push of the original return address and a jump. So the callee returns to where it would have: into
// the function, after the detour, where unwinders find a rule. A return address in near memory is in no unwind table.
bool move_call(const ZydisDecodedInstruction& one, CodePtr from, NearMemory* near) {
  const CodePtr next = from + one.length;
  const auto low = static_cast<uint32_t>(next.number()), high = static_cast<uint32_t>(next.number() >> 32);
  // push imm32 sign-extends to 64 bits, the mov then replaces the upper half: no register is needed, no flag
  // changes.
  //    68 imm32              push LOW
  //    c7 44 24 04 imm32     movl HIGH, 4(%rsp)
  std::array<uint8_t, 13> push{0x68, 0, 0, 0, 0, 0xc7, 0x44, 0x24, 0x04};
  std::memcpy(push.data() + 1, &low, sizeof low);
  std::memcpy(push.data() + 9, &high, sizeof high);
  near->append(push);
  if (is_relative(one)) return near->append_jump(CodePtr(relative_target(one, from.number())));
  near->append_jump_through(next + one.raw.disp.value);
  return true;
}

// One instruction, written for another place: what it refers to stays where it is. False: out of reach.
bool move_instruction(const ZydisDecodedInstruction& one, std::span<const uint8_t> bytes, CodePtr from,
                      NearMemory* near) {
  std::vector<uint8_t> moved(bytes.begin(), bytes.begin() + one.length);
  if (is_call(one)) return move_call(one, from, near);
  if (is_branch(one) && is_relative(one)) {
    const CodePtr target(relative_target(one, from.number()));
    if (one.meta.category == ZYDIS_CATEGORY_UNCOND_BR) return near->append_jump(target);
    // The condition's number is in the low half of the last byte of either form's opcode.
    // jcc rel8 is 7x, jcc rel32 is 0f 8x: always the long form, because near memory is hardly ever within 127
    // bytes.
    const uint8_t opcode = bytes[one.raw.imm[0].offset - 1];
    return near->append_branch(std::array<uint8_t, 2>{0x0f, static_cast<uint8_t>(0x80 | (opcode & 0x0f))}, target);
  }
  if (refers_to_rip(one)) {
    // Counted from the end of the instruction, any immediate included. The length does not change, so patching the
    // four bytes in place suffices.
    const CodePtr target = from + one.length + one.raw.disp.value;
    const auto distance = static_cast<int64_t>(bytes_between(near->end() + one.length, target));
    if (distance != static_cast<int32_t>(distance)) return false;
    const auto low = static_cast<int32_t>(distance);
    std::memcpy(moved.data() + one.raw.disp.offset, &low, sizeof low);
  }
  near->append(moved);
  return true;
}

// Never changes once it is made: any thread may decode.
const Decoder decoder;

}  // namespace

size_t instruction_length(std::span<const uint8_t> code) {
  ZydisDecodedInstruction decoded;
  return decoder.decode(code, &decoded) ? decoded.length : 0;
}

// The kernel (arch/x86/kernel/uprobes.c, up to 6.18 at least) chooses by the opcode's byte, whatever map a vector
// prefix puts it in: 74 is je to it, and vpcmpeqb is VEX 74.
bool is_mistaken_by_uprobes(std::span<const uint8_t> code) {
  ZydisDecodedInstruction decoded;
  if (!decoder.decode(code, &decoded)) return true;
  if (decoded.encoding == ZYDIS_INSTRUCTION_ENCODING_XOP) return true;  // unknown to most kernels
  if (decoded.encoding != ZYDIS_INSTRUCTION_ENCODING_VEX && decoded.encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX)
    return false;
  const uint8_t opcode = decoded.opcode;
  constexpr uint8_t kElsewhere[] = {0x90, 0x9a, 0x9d, 0xc2, 0xc3, 0xca, 0xcb, 0xe8, 0xe9, 0xea, 0xeb, 0xff};
  return (opcode & 0xf0) == 0x70 || std::ranges::find(kElsewhere, opcode) != std::end(kElsewhere);
}

bool decode(std::span<const uint8_t> code, uint64_t at, Instruction* one) {
  ZydisDecodedInstruction decoded;
  if (!decoder.decode(code, &decoded)) return false;
  set_kind(one, decoded);
  one->length = decoded.length;
  one->number_count = 0;
  one->target.reset();
  const bool is_branch = one->kind == Instruction::kJump || one->kind == Instruction::kConditional;
  if (is_branch && is_relative(decoded)) one->target = relative_target(decoded, at);
  const auto displacement = static_cast<uint64_t>(decoded.raw.disp.value);
  one->refers_nearby = refers_to_rip(decoded);
  one->refers.reset();
  if (one->refers_nearby)
    one->refers = at + decoded.length + displacement;
  else if (has_absolute_displacement(decoded))
    one->refers = displacement;
  for (const auto& immediate : decoded.raw.imm)
    if (immediate.size != 0 && immediate.is_relative == 0) one->numbers[one->number_count++] = immediate.value.u;
  if (decoded.raw.disp.size == 32) one->numbers[one->number_count++] = displacement;
  return true;
}

bool append_moved_code(std::span<const uint8_t> code, CodePtr from, NearMemory* near) {
  ZydisDecodedInstruction one;
  for (size_t at = 0; at < code.size(); at += one.length) {
    if (!decoder.decode(code.subspan(at), &one)) return false;
    if (!move_instruction(one, code.subspan(at), from + static_cast<int64_t>(at), near)) return false;
  }
  return true;
}

}  // namespace penna
