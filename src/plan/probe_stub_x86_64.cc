// SPDX-License-Identifier: MIT
// See probe_stub.h. Opcodes: Intel SDM volume 2.
#include "plan/probe_stub.h"

#include <array>
#include <cstring>

#include "plan/plan_parts.h"

namespace penna {
namespace {

enum Register : uint8_t { kRax = 0, kRsp = 4, kR10 = 10, kR11 = 11 };

/* The stub's frame, from rsp on:
 *     0 rax   8 r10   16 r11   24 flags   32 values, only with strings   ...   red zone of 128 bytes */
constexpr int32_t kSavedRax = 0, kSavedR10 = 8, kSavedR11 = 16, kSavedFlags = 24, kValues = 32, kRedZone = 128;
constexpr int32_t kArgumentsInRecord = 16;

// Instructions of this stub alone, in a row; jumps within are of one byte.
class Code {
 public:
  void bytes(std::initializer_list<uint8_t> list) { bytes_.insert(bytes_.end(), list); }
  void word(uint32_t value) { append(&value, sizeof value); }
  void long_word(uint64_t value) { append(&value, sizeof value); }
  // `opcode` with a register and the memory at base + displacement, or base + index * scale + displacement.
  // Always mod 10, with four bytes of displacement: rbp and r13 have no form without one, and no case is special.
  void memory(std::initializer_list<uint8_t> opcode, bool wide, uint8_t reg, uint8_t base, int32_t displacement,
              uint8_t index = ProbeOperand::kNone, uint8_t scale = 1) {
    const bool indexed = index != ProbeOperand::kNone;
    prefix(opcode, wide, reg, indexed ? index : 0, base);
    constexpr uint8_t kWithSib = 4, kNoIndex = 4;
    const bool sib = indexed || (base & 7) == kRsp;
    bytes_.push_back(static_cast<uint8_t>(0x80 | (reg & 7) << 3 | (sib ? kWithSib : base & 7)));
    const auto power = static_cast<uint8_t>(__builtin_ctz(scale));
    if (sib) bytes_.push_back(static_cast<uint8_t>(power << 6 | (indexed ? index & 7 : kNoIndex) << 3 | (base & 7)));
    word(static_cast<uint32_t>(displacement));
  }
  void registers(std::initializer_list<uint8_t> opcode, bool wide, uint8_t reg, uint8_t from) {
    prefix(opcode, wide, reg, 0, from);
    bytes_.push_back(static_cast<uint8_t>(0xc0 | (reg & 7) << 3 | (from & 7)));
  }
  const std::vector<uint8_t>& all() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  uint8_t& operator[](size_t at) { return bytes_[at]; }

 private:
  // Always a REX: without it, sil and its like would be dh and its like.
  void prefix(std::initializer_list<uint8_t> opcode, bool wide, uint8_t reg, uint8_t index, uint8_t base) {
    bytes_.push_back(static_cast<uint8_t>(0x40 | (wide ? 8 : 0) | (reg >> 3) << 2 | (index >> 3) << 1 | base >> 3));
    bytes(opcode);
  }
  void append(const void* from, size_t size) {
    const auto* first = static_cast<const uint8_t*>(from);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  std::vector<uint8_t> bytes_;
};

void load_word(Code* code, uint8_t to, uint8_t base, int32_t at) { code->memory({0x8b}, true, to, base, at); }
void store_word(Code* code, uint8_t from, uint8_t base, int32_t at) { code->memory({0x89}, true, from, base, at); }
void add_to_rsp(Code* code, int32_t bytes) { code->memory({0x8d}, true, kRsp, kRsp, bytes); }  // lea: no flags

// mov, movzx or movsx into rax, whatever the size; `from` is called with the opcode and whether it is of 64 bits.
template <typename From>
//    bytes   signed                  unsigned
//      1     48 0f be  movsbq        0f b6  movzbl
//      2     48 0f bf  movswq        0f b7  movzwl
//      4     48 63     movslq        8b     movl, which clears the upper half
//      8     48 8b     movq          the same
void extend(const ProbeOperand& operand, From&& from) {
  switch (operand.bytes) {
    case 1: return operand.is_signed ? from({0x0f, 0xbe}, true) : from({0x0f, 0xb6}, false);
    case 2: return operand.is_signed ? from({0x0f, 0xbf}, true) : from({0x0f, 0xb7}, false);
    case 4: return operand.is_signed ? from({0x63}, true) : from({0x8b}, false);
    default: return from({0x8b}, true);
  }
}

int32_t saved_at(uint8_t reg) { return reg == kRax ? kSavedRax : reg == kR10 ? kSavedR10 : kSavedR11; }
bool is_saved(uint8_t reg) { return reg == kRax || reg == kR10 || reg == kR11; }

// The argument as the function had it, into rax; r11 is free. `frame`: bytes between rsp now and then.
void load_argument(Code* code, const ProbeOperand& operand, int32_t frame) {
  using Opcode = std::initializer_list<uint8_t>;
  const auto load = [&](uint8_t base, int32_t at, uint8_t index = ProbeOperand::kNone, uint8_t scale = 1) {
    extend(operand, [&](Opcode opcode, bool wide) { code->memory(opcode, wide, kRax, base, at, index, scale); });
  };
  if (operand.kind == ProbeOperand::kConstant) {
    code->bytes({0x48, 0xb8});  // mov imm64, %rax
    return code->long_word(static_cast<uint64_t>(operand.number));
  }
  if (operand.kind == ProbeOperand::kRegister) {
    if (is_saved(operand.base)) return load(kRsp, saved_at(operand.base) + (operand.is_high ? 1 : 0));
    if (operand.base == kRsp) return code->memory({0x8d}, true, kRax, kRsp, frame);
    if (operand.is_high) {  // rax becomes the register, and is shifted
      code->registers({0x8b}, true, kRax, operand.base);
      code->bytes({0x48, 0xc1, 0xe8, 8});  // shr $8, %rax
      return extend(operand, [&](Opcode opcode, bool wide) { code->registers(opcode, wide, kRax, kRax); });
    }
    return extend(operand, [&](Opcode opcode, bool wide) { code->registers(opcode, wide, kRax, operand.base); });
  }
  uint8_t base = operand.base, index = operand.index;
  auto at = static_cast<int32_t>(operand.number);
  if (base == kRsp) at += frame;
  // rax, r10 and r11 are in use by now: their original values are in the frame.
  if (is_saved(base)) load_word(code, kRax, kRsp, saved_at(base)), base = kRax;
  if (index != ProbeOperand::kNone && is_saved(index)) load_word(code, kR11, kRsp, saved_at(index)), index = kR11;
  load(base, at, index, operand.scale);
}

bool has_text(const PlannedProbe& probe) {
  for (const ProbeArgument& argument : probe.arguments)
    if (argument.is_text) return true;
  return false;
}

int32_t frame_of(const PlannedProbe& probe) {
  const auto values = static_cast<int32_t>(has_text(probe) ? probe.arguments.size() * 16 : 0);
  return kRedZone + kValues + values;
}

constexpr uint64_t kTextLimit = (PENNA_MAX_STRING + 1) | PENNA_TEXT_ENDS_AT_ZERO;

// So that no length has the bit that means "to the first zero byte". A negative one is cut like any other that is too
// large.
// The length comes from the program, and may be anything.
ProbeOperand unsigned_of(ProbeOperand length) {
  length.is_signed = false;
  if (length.kind == ProbeOperand::kConstant) length.number &= PENNA_MAX_STRING;
  return length;
}

// lea DISTANCE(%rip), %reg: its last four bytes are left to be filled by the caller.
size_t load_address(Code* code, uint8_t reg) {
  code->bytes({static_cast<uint8_t>(0x48 | (reg >> 3) << 2), 0x8d, static_cast<uint8_t>(0x05 | (reg & 7) << 3)});
  code->word(0);
  return code->size() - 4;
}

void fill(Code* code, size_t at, int64_t distance) {
  const auto low = static_cast<int32_t>(distance);
  std::memcpy(&(*code)[at], &low, sizeof low);
}

// First moves below the red zone, before anything is stored; by lea, because flags are not saved yet.
void save_registers(Code* code, int32_t frame) {
  add_to_rsp(code, -frame);
  store_word(code, kRax, kRsp, kSavedRax);
  store_word(code, kR10, kRsp, kSavedR10);
  store_word(code, kR11, kRsp, kSavedR11);
  code->bytes({0x9f, 0x0f, 0x90, 0xc0});  // lahf; seto %al
  store_word(code, kRax, kRsp, kSavedFlags);
}

// In reverse. seto left 0 or 1 in al: adding 0x7f overflows only for 1. sahf comes after it, because the addition sets
// the other flags.
void restore_registers(Code* code, int32_t frame) {
  load_word(code, kRax, kRsp, kSavedFlags);
  code->bytes({0x04, 0x7f, 0x9e});  // add $0x7f, %al: sets the overflow flag as it was; sahf
  load_word(code, kR11, kRsp, kSavedR11);
  load_word(code, kR10, kRsp, kSavedR10);
  load_word(code, kRax, kRsp, kSavedRax);
  add_to_rsp(code, frame);
}

// Stores the words of all arguments from `to` at `base` on; a text's length follows its address.
void store_arguments(Code* code, const PlannedProbe& probe, int32_t frame, uint8_t base, int32_t to) {
  for (const ProbeArgument& argument : probe.arguments) {
    load_argument(code, argument.operand, frame);
    store_word(code, kRax, base, to);
    to += 8;
    if (!argument.is_text) continue;
    if (argument.length) {
      load_argument(code, unsigned_of(*argument.length), frame);
    } else {
      code->bytes({0x48, 0xb8});  // mov imm64, %rax
      code->long_word(kTextLimit);
    }
    store_word(code, kRax, base, to);
    to += 8;
  }
}

// From saving the registers to restoring them. `at`: the code's address; `state` and `entry`: what it is to record, and
// where it enters the recorder: a place to jump to, or with strings a pointer to one.
//
// Two shapes. Without strings the recorder returns the record's address, and the arguments are stored right into it.
// With strings it must copy them itself, so it gets all values as an array on the stack. In both, it is entered as from
// a point, by a jump with the return address in r11 (penna_point_entries in penna/point_abi.h).
std::vector<uint8_t> recording_code(const PlannedProbe& probe, CodePtr at, CodePtr state, CodePtr entry) {
  const bool text = has_text(probe);
  const int32_t frame = frame_of(probe);
  Code code;
  save_registers(&code, frame);
  if (text) {
    store_arguments(&code, probe, frame, kRsp, kValues);
    code.memory({0x8d}, true, kR10, kRsp, kValues);  // lea
  }
  const size_t state_at = load_address(&code, kRax), back_at = load_address(&code, kR11);
  if (text)
    code.bytes({0xff, 0x25});  // jmp *entry(%rip)
  else
    code.bytes({0xe9});
  code.word(0);
  const size_t entry_at = code.size() - 4;
  const auto distance_from = [at](size_t field, CodePtr to) {
    return static_cast<int64_t>(bytes_between(at + static_cast<int64_t>(field + 4), to));
  };
  fill(&code, back_at, static_cast<int64_t>(code.size() - (back_at + 4)));
  fill(&code, state_at, distance_from(state_at, state));
  fill(&code, entry_at, distance_from(entry_at, entry));
  if (!text) {
    // r10 is 0 where there was no room for a record: counted by the recorder.
    code.bytes({0x4d, 0x85, 0xd2, 0x0f, 0x84});  // test %r10, %r10; jz past the arguments
    code.word(0);
    const size_t skip_at = code.size() - 4;
    store_arguments(&code, probe, frame, kR10, kArgumentsInRecord);
    code.bytes({0x41, 0xc6, 0x02, PENNA_POINT_COMMIT});  // movb, a release on x86
    fill(&code, skip_at, static_cast<int64_t>(code.size() - (skip_at + 4)));
  }
  restore_registers(&code, frame);
  return code.all();
}

std::string site_text(const PlannedProbe& probe) {
  std::string text = probe.provider + '\0' + probe.name + '\0' + '\0';  // no source file
  for (const ProbeArgument& argument : probe.arguments) (text += argument.name) += '\0';
  return text;
}

uint32_t type_of(const ProbeArgument& argument) {
  if (argument.is_text) return PENNA_ARG_STRING;
  return argument.operand.is_signed ? PENNA_ARG_INT : PENNA_ARG_UINT;
}

// Written before the code. Returns its address.
CodePtr append_probe(const PlannedProbe& probe, uint64_t bias, NearMemory* near) {
  const std::string text = site_text(probe);
  penna_probe head{};
  head.state.arg_count = static_cast<uint8_t>(probe.arguments.size());
  for (size_t i = 0; i < probe.arguments.size(); ++i)
    head.state.types |= uint64_t{type_of(probe.arguments[i])} << (4 * i);
  head.nop = probe.site.nop + bias;
  head.semaphore = probe.semaphore != 0 ? probe.semaphore + bias : 0;
  head.text_bytes = static_cast<uint32_t>(text.size());
  head.frame = static_cast<uint32_t>(frame_of(probe));
  const std::vector<uint8_t> padding((8 - near->end().number() % 8) % 8, kPadding);
  near->append(padding);
  const CodePtr at = near->end();
  std::array<uint8_t, sizeof head> bytes;
  std::memcpy(bytes.data(), &head, sizeof head);
  near->append(bytes);
  near->append({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  return at;
}

// Upper bounds in bytes of code, checked against the room before anything is written. An argument takes at most
// three loads and a store of 9 bytes each, and as many again for a string's length.
constexpr size_t kMostOfArgument = 80, kMostBesides = 256;  // bytes of code

}  // namespace

std::optional<penna_patch> patch_probe(const PlannedProbe& probe, uint64_t bias, uint64_t values, NearMemory* near) {
  const ProbeSite& site = probe.site;
  const size_t most = sizeof(penna_probe) + site_text(probe).size() + kMostBesides +
                      probe.arguments.size() * kMostOfArgument + (site.code.size() + 1) * kLargestMoved;
  if (!near->has_entrance() || !near->has_room(most)) return {};
  const CodePtr state = append_probe(probe, bias, near);
  // A direct jump reaches the entrance; `values` may be anywhere in the process, and is jumped to through a
  // pointer.
  CodePtr entry = near->entrance();
  if (has_text(probe)) {
    entry = near->end();
    std::array<uint8_t, 8> pointer;
    std::memcpy(pointer.data(), &values, sizeof values);
    near->append(pointer);
  }
  const CodePtr stub = near->end();
  const auto moved = [&] { return append_moved_code(site.code, in_target(site.place, bias), near); };
  // In the order in which the program would have run it: code before the nop, then the probe, then code after the nop.
  if (!site.is_behind() && !moved()) return {};
  near->append(recording_code(probe, near->end(), state, entry));
  if (site.is_behind() && !moved()) return {};
  const CodePtr place = in_target(site.place, bias), back = in_target(site.place + site.code.size(), bias);
  const auto jump = jump_from(place, stub);
  if (!near->append_jump(back) || !jump) return {};
  penna_patch patch = code_patch(place, site.code, *jump, jump->size());
  patch.kind = PENNA_PATCH_PROBE;
  patch.stub = state.number();
  return patch;
}

}  // namespace penna
