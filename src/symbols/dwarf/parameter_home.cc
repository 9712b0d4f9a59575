// SPDX-License-Identifier: MIT
// See parameter_home.h. Register numbers: psABI 3.6.2, figure 3.36.
#include "symbols/dwarf/parameter_home.h"

#include <dwarf.h>

#include <iterator>
#include <span>

namespace penna {
namespace {

constexpr uint8_t kDwarfIntegers[] = {5, 4, 1, 2, 8, 9};  // rdi, rsi, rdx, rcx, r8, r9
constexpr uint64_t kDwarfXmm0 = 17;

ValueWord argument_register(uint64_t dwarf) {
  for (size_t i = 0; i < std::size(kDwarfIntegers); ++i) {
    if (kDwarfIntegers[i] == dwarf) return {PENNA_VALUE_INTEGER, static_cast<uint8_t>(i)};
  }
  if (dwarf >= kDwarfXmm0 && dwarf < kDwarfXmm0 + 8)
    return {PENNA_VALUE_VECTOR, static_cast<uint8_t>(dwarf - kDwarfXmm0)};
  return {};
}

// The argument register that an operation names as the location of a value.
ValueWord named_register(const Dwarf_Op& op) {
  if (op.atom >= DW_OP_reg0 && op.atom <= DW_OP_reg31) return argument_register(op.atom - DW_OP_reg0);
  return op.atom == DW_OP_regx ? argument_register(op.number) : ValueWord{};
}

bool same(const ValueWord& a, const ValueWord& b) { return a.place == b.place && a.number == b.number; }

ParameterLocation home_of_pieces(std::span<const Dwarf_Op> ops) {
  ParameterLocation home;
  size_t count = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    const ValueWord word = named_register(ops[i]);
    const bool piece = i + 1 < ops.size() && ops[i + 1].atom == DW_OP_piece;
    // With an empty piece, or one in memory, the value is not complete at the entry.
    if (word.place == 0 || count == home.words.size() || (!piece && ops.size() != 1)) return {};
    home.words[count++] = word;
    if (piece) ++i;
  }
  home.kind = ParameterLocation::Kind::kRegisters;
  return home;
}

}  // namespace

ParameterLocation home_of(Dwarf_Die* parameter, uint64_t entry) {
  Dwarf_Attribute attribute;
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  // Not integrated: an abstract instance has no location. Uses the first expression that covers the entry.
  if (::dwarf_attr(parameter, DW_AT_location, &attribute) == nullptr ||
      ::dwarf_getlocation_addr(&attribute, entry, &ops, &count, 1) != 1 || count == 0) {
    return {};
  }
  ParameterLocation home;
  // The frame's own memory: without optimisation all parameters are stored there first.
  if (ops[0].atom == DW_OP_fbreg && (count == 1 || (count == 2 && ops[1].atom == DW_OP_deref))) {
    home.kind = ParameterLocation::Kind::kMemory;
    return home;
  }
  if (count == 1 && ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
    constexpr uint64_t kRsp = 7;
    const uint64_t base = ops[0].atom - DW_OP_breg0;
    home.words[0] = argument_register(base);
    // On the stack; or at the address in an argument register, like values passed by invisible reference.
    if (base == kRsp)
      home.kind = ParameterLocation::Kind::kMemory;
    else if (home.words[0].place == PENNA_VALUE_INTEGER && ops[0].number == 0)
      home.kind = ParameterLocation::Kind::kBehind;
    return home;
  }
  return home_of_pieces({ops, count});
}

bool ParameterLocation::confirms(const ValuePlace& place) const {
  switch (kind) {
    case Kind::kUnknown: return place.kind == ValuePlace::Kind::kNothing;
    case Kind::kMemory: return true;
    case Kind::kBehind: return place.kind == ValuePlace::Kind::kBehind && same(words[0], place.words[0]);
    case Kind::kRegisters: break;
  }
  if (place.kind != ValuePlace::Kind::kRegisters) return false;
  // Padding eightbytes have no register; SSEUP has none of its own.
  std::array<ValueWord, 2> wanted{};
  size_t count = 0;
  for (const ValueWord& word : place.words) {
    if (word.place != 0) wanted[count++] = word;
  }
  return same(words[0], wanted[0]) && same(words[1], wanted[1]);
}

bool ParameterLocation::contradicts(const ValuePlace& place) const {
  return (kind == Kind::kRegisters || kind == Kind::kBehind) && !confirms(place);
}

}  // namespace penna
