// SPDX-License-Identifier: MIT
// What detours and probes ask of single instructions of x86-64, decoded by Zydis, and of tables of branch targets.
// Internal to attach.
//
// Invariant: an instruction that may not be moved is never taken for one that may: what is not known is refused.
#pragma once

#include <Zydis/Zydis.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "plan/detour.h"
#include "symbols/elf/elf_file.h"

namespace penna {

inline constexpr size_t kLongestInstruction = 15;    // bytes
inline constexpr size_t kLargestFunction = 1 << 20;  // bytes that are decoded of one

class Decoder {
 public:
  Decoder() { ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64); }
  bool decode(std::span<const uint8_t> code, ZydisDecodedInstruction* instruction) const {
    return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder_, nullptr, code.data(), code.size(), instruction));
  }

 private:
  ZydisDecoder decoder_{};
};

inline bool is_call(const ZydisDecodedInstruction& one) { return one.meta.category == ZYDIS_CATEGORY_CALL; }
inline bool is_branch(const ZydisDecodedInstruction& one) {
  return one.meta.category == ZYDIS_CATEGORY_COND_BR || one.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
}
inline bool is_relative_branch(const ZydisDecodedInstruction& one) {
  return is_branch(one) && one.raw.imm[0].is_relative != 0;
}
inline uint64_t branch_target(const ZydisDecodedInstruction& one, uint64_t at) {
  return at + one.length + static_cast<uint64_t>(one.raw.imm[0].value.s);
}
inline bool refers_to_rip(const ZydisDecodedInstruction& one) {
  return (one.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 && one.raw.modrm.mod == 0 && one.raw.modrm.rm == 5;
}
inline bool has_absolute_displacement(const ZydisDecodedInstruction& one) {  // without a base, perhaps with an index
  return (one.attributes & ZYDIS_ATTRIB_HAS_SIB) != 0 && one.raw.modrm.mod == 0 && one.raw.sib.base == 5;
}
inline bool has_byte_only_form(const ZydisDecodedInstruction& one) {  // loop, jrcxz
  return one.mnemonic == ZYDIS_MNEMONIC_LOOP || one.mnemonic == ZYDIS_MNEMONIC_LOOPE ||
         one.mnemonic == ZYDIS_MNEMONIC_LOOPNE || one.mnemonic == ZYDIS_MNEMONIC_JRCXZ ||
         one.mnemonic == ZYDIS_MNEMONIC_JECXZ || one.mnemonic == ZYDIS_MNEMONIC_JCXZ;
}

// A call of a fixed place, or through a pointer at one.
inline bool is_known_call(const ZydisDecodedInstruction& one) {
  return is_call(one) && (one.raw.imm[0].is_relative != 0 || (one.opcode == 0xff && refers_to_rip(one)));
}

// May this instruction run somewhere else? Null: yes.
inline const char* why_not_moved(const ZydisDecodedInstruction& one) {
  if (is_call(one) && !is_known_call(one)) return "calls through a register in its first instructions";
  if (one.meta.category == ZYDIS_CATEGORY_INTERRUPT) return "has a breakpoint or a trap in its first instructions";
  if (is_branch(one) && !is_relative_branch(one)) return "jumps through a pointer in its first instructions";
  if (has_byte_only_form(one)) return "loops in its first instructions";
  if (one.mnemonic == ZYDIS_MNEMONIC_XBEGIN) return "begins a transaction in its first instructions";
  return nullptr;
}

// The targets in the function of what looks like the table of a switch, from `table` on: 4-byte distances from it, or
// 8-byte addresses. It ends where an entry leads out of the function.
template <typename Visit>
void for_each_target(const ElfFile& file, uint64_t table, const FunctionRange& function, Visit&& visit) {
  constexpr size_t kMost = 4096;
  const std::span<const uint8_t> bytes = file.bytes_at(table, kMost * 8);
  for (size_t i = 0; i < kMost && (i + 1) * 4 <= bytes.size(); ++i) {
    int32_t distance;
    std::memcpy(&distance, bytes.data() + i * 4, 4);
    const uint64_t target = table + static_cast<uint64_t>(int64_t{distance});
    if (target < function.start || target >= function.end) break;
    visit(target);
  }
  for (size_t i = 0; i < kMost && (i + 1) * 8 <= bytes.size(); ++i) {
    uint64_t target;
    std::memcpy(&target, bytes.data() + i * 8, 8);
    if (target < function.start || target >= function.end) break;
    visit(target);
  }
}

// Where an instruction refers to with its displacement: a table may begin there.
inline std::optional<uint64_t> referred(const ZydisDecodedInstruction& one, uint64_t at) {
  const auto displacement = static_cast<uint64_t>(one.raw.disp.value);
  if (refers_to_rip(one)) return at + one.length + displacement;
  if (has_absolute_displacement(one)) return displacement;
  return {};
}

// Bytes of `code` in front of which nobody may land but at the first.
struct Window {
  uint64_t begin, end;
  bool has_inside(uint64_t address) const { return address > begin && address < end; }
};

}  // namespace penna
