// SPDX-License-Identifier: MIT
// See probe_operand.h.
#include "base/whole_number.h"
#include "plan/probe_operand.h"

#include <array>
#include <charconv>
#include <string>

#include "plan/arch.h"

namespace penna {
namespace {

constexpr uint8_t kStackPointer = 4;  // which cannot be an index

struct NamedRegister {
  uint8_t number = ProbeOperand::kNone;
  bool is_high = false;
};

// `name`: without its percent sign.
NamedRegister register_of(std::string_view name) {
  constexpr std::array<std::string_view, 8> kWords = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
  constexpr std::array<std::string_view, 8> kBytes = {"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil"};
  constexpr std::array<std::string_view, 4> kHigh = {"ah", "ch", "dh", "bh"};
  for (size_t i = 0; i < kHigh.size(); ++i)
    if (name == kHigh[i]) return {static_cast<uint8_t>(i), true};
  for (size_t i = 0; i < kWords.size(); ++i)
    if (name == kWords[i] || name == kBytes[i] ||
        (name.size() == 3 && (name[0] == 'r' || name[0] == 'e') && name.substr(1) == kWords[i]))
      return {static_cast<uint8_t>(i), false};
  if (name.size() < 2 || name[0] != 'r') return {};
  unsigned number = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  const std::string_view width(end, static_cast<size_t>(name.data() + name.size() - end));
  const bool known = width.empty() || width == "d" || width == "w" || width == "b";
  if (error != std::errc() || number < 8 || number > 15 || !known) return {};
  return {static_cast<uint8_t>(number), false};
}

bool read_number(std::string_view text, int64_t* number) {
  const auto read = text.empty() ? 0 : whole_number<int64_t>(text);
  *number = read.value_or(0);
  return read.has_value();
}

// The next piece up to a comma.
std::string_view next_part(std::string_view* text) {
  const size_t comma = text->find(',');
  const std::string_view part = text->substr(0, comma);
  text->remove_prefix(comma == text->npos ? text->size() : comma + 1);
  return part;
}

// Of 64 bits, written with its percent sign.
uint8_t address_register(std::string_view text) {
  const bool wide =
      text.size() > 2 && text.substr(0, 2) == "%r" && std::string_view("dwb").find(text.back()) == text.npos;
  return wide ? register_of(text.substr(1)).number : ProbeOperand::kNone;
}

// number(%base,%index,scale); the base is required.
bool read_memory(std::string_view text, ProbeOperand* operand) {
  const size_t bracket = text.find('(');
  if (bracket == text.npos || text.back() != ')' || !read_number(text.substr(0, bracket), &operand->number))
    return false;
  std::string_view inside = text.substr(bracket + 1, text.size() - bracket - 2);
  const std::string_view base = next_part(&inside), index = next_part(&inside), scale = next_part(&inside);
  operand->base = address_register(base);
  int64_t factor = 1;
  if (!index.empty()) {
    operand->index = address_register(index);
    if (operand->index == ProbeOperand::kNone || operand->index == kStackPointer) return false;
    if (!scale.empty() && !read_number(scale, &factor)) return false;
  }
  operand->scale = static_cast<uint8_t>(factor);
  const bool sound = factor == 1 || factor == 2 || factor == 4 || factor == 8;
  // It is encoded as a displacement of four bytes (probe_stub_x86_64.cc).
  return sound && inside.empty() && operand->base != ProbeOperand::kNone &&
         operand->number == static_cast<int32_t>(operand->number);
}

const char* refusal_of(OperandTrap trap) {
  switch (trap) {
    case OperandTrap::kFloatMarker: return "is a floating-point number";
    case OperandTrap::kVectorRegister: return "is in a vector register";
    case OperandTrap::kSymbol: return "is at an address that only the linker knew";
    case OperandTrap::kSize: return "has no size of 1, 2, 4 or 8 bytes";
    default: return "is spelled in a way that is not understood";
  }
}

}  // namespace

OperandOffer parse_probe_operand(const SdtArg& argument) {
  const OperandTrap trap = operand_trap(argument, kMachine);
  // Traps of other readers (symbols/points/sdt_args.h): byte registers, ah and its like, and an index are handled here.
  const bool readable = trap == OperandTrap::kNone || trap == OperandTrap::kByteRegister ||
                        trap == OperandTrap::kHighByteRegister || trap == OperandTrap::kIndex;
  if (!readable) return {{}, refusal_of(trap)};
  if (argument.size != 1 && argument.size != 2 && argument.size != 4 && argument.size != 8)
    return {{}, refusal_of(OperandTrap::kSize)};
  ProbeOperand operand;
  operand.bytes = static_cast<uint8_t>(argument.size);
  operand.is_signed = argument.is_signed;
  const std::string_view text = argument.operand;
  bool understood = false;
  if (text[0] == '$') {
    understood = read_number(text.substr(1), &operand.number);
  } else if (text.find('(') != text.npos) {
    operand.kind = ProbeOperand::kMemory;
    understood = read_memory(text, &operand);
  } else if (text[0] == '%') {
    operand.kind = ProbeOperand::kRegister;
    const NamedRegister found = register_of(text.substr(1));
    operand.base = found.number;
    operand.is_high = found.is_high;
    understood = found.number != ProbeOperand::kNone;
  }
  if (!understood) return {{}, refusal_of(OperandTrap::kSyntax)};
  return {operand, nullptr};
}

bool is_in_frame(const ProbeOperand& operand) {
  constexpr uint8_t kRsp = 4, kRbp = 5;
  if (operand.kind != ProbeOperand::kMemory || operand.index != ProbeOperand::kNone) return false;
  return operand.base == kRsp || (operand.base == kRbp && operand.number < 0);
}

}  // namespace penna
