// SPDX-License-Identifier: MIT
// See sdt_args.h. What counts as a trap was tested with gdb 13, bpftrace 0.17 and perf 6.1, and taken from libbpf's
// parser.
#include "symbols/points/sdt_args.h"

#include <elf.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <span>

#include "base/whole_number.h"

namespace penna {
namespace {

constexpr size_t kMostArgs = 64;  // per note; clients take 12

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Removes the next argument from the front of `text`. Spaces inside brackets do not end it.
std::string_view next_piece(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  size_t end = 0;
  // As on AArch64: "8@[sp, 16]".
  for (int open = 0; end < text.size() && (open > 0 || text[end] != ' '); ++end) {
    if (text[end] == '[' || text[end] == '(') ++open;
    if (text[end] == ']' || text[end] == ')') --open;
  }
  const std::string_view piece = text.substr(0, end);
  text.remove_prefix(end);
  return piece;
}

SdtArg parse_arg(std::string_view text) {
  SdtArg arg;
  arg.text = text;
  arg.operand = text;
  const size_t at = text.find('@');
  if (at == std::string_view::npos) return arg;
  std::string_view size = text.substr(0, at);
  const bool minus = !size.empty() && size.front() == '-';
  if (minus) size.remove_prefix(1);
  const bool marked = !size.empty() && size.back() == 'f';
  // "4f", "-8f": systemtap's sdt.h from 4.8 on.
  if (marked) size.remove_suffix(1);
  const auto bytes = whole_number<uint32_t>(size);
  if (!bytes) return arg;
  arg.size = *bytes;
  arg.is_signed = minus;
  arg.is_float = marked;
  arg.operand = text.substr(at + 1);
  return arg;
}

// A decimal number with or without a minus sign: the only kind that every client reads.
bool is_number(std::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}
// Whether there are letters that begin a name: digits, signs and "0x" do not.
bool has_name(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const bool begins = i == 0 || (std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0 && text[i - 1] != '_');
    if (begins && (std::isalpha(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_' || text[i] == '.'))
      return true;
  }
  return false;
}

// ---- x86 ------------------------------------------------------------------------------------------------------------

// "r12" of "r12d", with the letter that gives the width; {0, 0} if it is none of r8 to r15.
struct NewRegister {
  int number = 0;
  char width = 0;
};
NewRegister new_register(std::string_view name) {
  if (name.size() < 2 || name[0] != 'r') return {};
  int number = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  const std::string_view rest(end, static_cast<size_t>(name.data() + name.size() - end));
  if (error != std::errc() || number < 8 || number > 15 || rest.size() > 1) return {};
  if (!rest.empty() && rest != "d" && rest != "w" && rest != "b") return {};
  return {number, rest.empty() ? 'q' : rest[0]};
}

constexpr std::array<std::string_view, 32> kOldRegisters = {
    "rax", "eax", "ax", "al",  "rbx", "ebx", "bx", "bl",  "rcx", "ecx", "cx", "cl",  "rdx", "edx", "dx", "dl",
    "rsi", "esi", "si", "sil", "rdi", "edi", "di", "dil", "rbp", "ebp", "bp", "bpl", "rsp", "esp", "sp", "spl"};
constexpr std::array<std::string_view, 4> kHighBytes = {"ah", "bh", "ch", "dh"};

OperandTrap x86_register(std::string_view name) {
  if (is_one_of(name, kOldRegisters)) return OperandTrap::kNone;
  if (is_one_of(name, kHighBytes)) return OperandTrap::kHighByteRegister;
  if (const NewRegister found = new_register(name); found.number != 0)
    return found.width == 'b' ? OperandTrap::kByteRegister : OperandTrap::kNone;
  for (std::string_view vector : {"xmm", "ymm", "zmm", "mm", "st"})
    if (name.substr(0, vector.size()) == vector) return OperandTrap::kVectorRegister;
  return OperandTrap::kSyntax;
}

bool is_x86_address_register(std::string_view part) {
  if (part.size() < 2 || part[0] != '%') return false;
  const std::string_view name = part.substr(1);
  return x86_register(name) == OperandTrap::kNone && (name[0] == 'r' || name[0] == 'e');
}

// disp(%base), disp(%base,%index,scale)
OperandTrap x86_memory(std::string_view operand, size_t bracket) {
  const std::string_view displacement = operand.substr(0, bracket);
  std::string_view inside = operand.substr(bracket + 1);
  if (inside.empty() || inside.back() != ')') return OperandTrap::kSyntax;
  inside.remove_suffix(1);
  if (has_name(displacement) || inside == "%rip" || inside == "%eip") return OperandTrap::kSymbol;
  if (!displacement.empty() && !is_number(displacement)) return OperandTrap::kSyntax;
  const size_t comma = inside.find(',');
  if (comma == std::string_view::npos)
    return is_x86_address_register(inside) ? OperandTrap::kNone : OperandTrap::kSyntax;
  std::string_view index = inside.substr(comma + 1), scale;
  if (const size_t second = index.find(','); second != std::string_view::npos) {
    scale = index.substr(second + 1);
    index = index.substr(0, second);
  }
  const bool base_good = comma == 0 || is_x86_address_register(inside.substr(0, comma));
  const bool scale_good = scale.empty() || scale == "1" || scale == "2" || scale == "4" || scale == "8";
  return base_good && scale_good && is_x86_address_register(index) ? OperandTrap::kIndex : OperandTrap::kSyntax;
}

OperandTrap x86_operand(std::string_view operand) {
  if (operand.empty()) return OperandTrap::kSyntax;
  if (operand[0] == '$') {
    if (is_number(operand.substr(1))) return OperandTrap::kNone;
    return has_name(operand.substr(1)) ? OperandTrap::kSymbol : OperandTrap::kSyntax;
  }
  if (const size_t bracket = operand.find('('); bracket != std::string_view::npos) return x86_memory(operand, bracket);
  if (operand[0] == '%' && operand.find(':') == std::string_view::npos) return x86_register(operand.substr(1));
  return operand[0] != '%' && has_name(operand) ? OperandTrap::kSymbol : OperandTrap::kSyntax;
}

// ---- ARM, AArch64 ---------------------------------------------------------------------------------------------------

// Letter and a number in range, like "x12".
bool is_numbered(std::string_view name, char letter, int last) {
  if (name.size() < 2 || name[0] != letter) return false;
  const auto number = whole_number<int>(name.substr(1));
  return number && *number <= last;
}

OperandTrap arm_register(std::string_view name, bool wide) {
  if (wide) {
    if (is_numbered(name, 'x', 30) || name == "sp") return OperandTrap::kNone;
    if (is_numbered(name, 'w', 30)) return OperandTrap::kNarrowRegister;
    for (char vector : {'v', 'q', 'd', 's', 'h', 'b'})
      if (is_numbered(name, vector, 31)) return OperandTrap::kVectorRegister;
    return OperandTrap::kSyntax;
  }
  constexpr std::array<std::string_view, 6> kNamed = {"sl", "fp", "ip", "sp", "lr", "pc"};
  if (is_numbered(name, 'r', 15) || is_one_of(name, kNamed)) return OperandTrap::kNone;
  for (char vector : {'q', 'd', 's'})
    if (is_numbered(name, vector, 31)) return OperandTrap::kVectorRegister;
  return OperandTrap::kSyntax;
}

// "x0", "[sp]", "[sp, 8]", "[r7, #8]", "5", "#5"
OperandTrap arm_operand(std::string_view operand, bool wide) {
  if (!operand.empty() && operand[0] == '#') operand.remove_prefix(1);
  if (is_number(operand)) return OperandTrap::kNone;
  if (operand.empty() || operand[0] != '[') {
    const OperandTrap trap = arm_register(operand, wide);
    return trap == OperandTrap::kSyntax && has_name(operand) ? OperandTrap::kSymbol : trap;
  }
  if (operand.back() != ']') return OperandTrap::kSyntax;
  std::string_view inside = operand.substr(1, operand.size() - 2), offset;
  if (const size_t comma = inside.find(','); comma != std::string_view::npos) {
    offset = inside.substr(comma + 1);
    inside = inside.substr(0, comma);
    while (!offset.empty() && (offset[0] == ' ' || offset[0] == '#')) offset.remove_prefix(1);
    if (offset.empty()) return OperandTrap::kSyntax;
  }
  if (arm_register(inside, wide) != OperandTrap::kNone) return OperandTrap::kSyntax;
  if (offset.empty() || is_number(offset)) return OperandTrap::kNone;
  return arm_register(offset.substr(0, offset.find(',')), wide) == OperandTrap::kNone ? OperandTrap::kIndex
                                                                                      : OperandTrap::kSyntax;
}

}  // namespace

std::vector<SdtArg> parse_sdt_args(std::string_view text) {
  std::vector<SdtArg> args;
  while (args.size() < kMostArgs) {
    const std::string_view piece = next_piece(text);
    if (piece.empty()) break;
    args.push_back(parse_arg(piece));
  }
  return args;
}

std::string sdt_type_name(const SdtArg& arg) {
  if (arg.size == 0 || arg.size > 64) return "?";
  return fmt::format("{}{}", arg.is_float ? 'f' : arg.is_signed ? 's' : 'u', arg.size * 8);
}

bool knows_sdt_operands(int machine) {
  return machine == EM_X86_64 || machine == EM_386 || machine == EM_AARCH64 || machine == EM_ARM;
}

OperandTrap operand_trap(const SdtArg& arg, int machine) {
  if (arg.is_float) return OperandTrap::kFloatMarker;
  if (!knows_sdt_operands(machine)) return OperandTrap::kNone;
  const bool arm = machine == EM_AARCH64 || machine == EM_ARM;
  const OperandTrap trap = arm ? arm_operand(arg.operand, machine == EM_AARCH64) : x86_operand(arg.operand);
  if (trap != OperandTrap::kNone && trap != OperandTrap::kIndex) return trap;
  const bool sized = arg.size == 1 || arg.size == 2 || arg.size == 4 || arg.size == 8;
  // An index is a lesser trap than the size: fewer clients are affected.
  return sized ? trap : OperandTrap::kSize;
}

std::string sdt_types_text(const std::vector<SdtArg>& args) {
  std::string text;
  for (const SdtArg& arg : args) text += (text.empty() ? "" : ", ") + sdt_type_name(arg);
  return text;
}

}  // namespace penna
