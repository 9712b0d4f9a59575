// SPDX-License-Identifier: MIT
// The operations that occur in CFI of real modules (DWARF 5 section 2.5); all others are refused. See expression.h.
#include "unwind/expression.h"

#include "unwind/arch.h"

namespace penna::unwind {
namespace {

class Stack {
 public:
  bool push(Value value) {
    if (depth_ == kDepth) return false;
    values_[depth_++] = value;
    return true;
  }
  bool pop(Value& value) {
    if (depth_ == 0) return false;
    value = values_[--depth_];
    return true;
  }

 private:
  static constexpr int kDepth = 8;
  Value values_[kDepth];
  int depth_ = 0;
};

// Offsets are added modulo 2^64, as the target machine does.
int64_t add(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }

bool plus(Value a, Value b, Value& sum) {
  if (a.base != Value::kConstant) {
    const Value other = a;
    a = b;
    b = other;
  }
  if (a.base != Value::kConstant || a.deref || b.deref) return false;
  sum = b;
  sum.offset = add(a.offset, b.offset);
  return true;
}

bool binary(uint8_t op, Value a, Value b, Value& result) {
  if (op == 0x22) return plus(a, b, result);
  if (b.base != Value::kConstant || b.deref || a.deref) return false;
  if (op == 0x1c) return b.offset != INT64_MIN && plus(a, {Value::kConstant, false, -b.offset}, result);
  if (a.base != Value::kConstant) return false;
  result = Value{};
  switch (op) {
    case 0x1a: result.offset = a.offset & b.offset; return true;
    case 0x21: result.offset = a.offset | b.offset; return true;
    case 0x24:
      result.offset = b.offset >= 0 && b.offset < 64 ? static_cast<int64_t>(uint64_t(a.offset) << b.offset) : 0;
      return true;
    case 0x29: result.offset = a.offset == b.offset; return true;
    case 0x2a: result.offset = a.offset >= b.offset; return true;
    case 0x2b: result.offset = a.offset > b.offset; return true;
    case 0x2c: result.offset = a.offset <= b.offset; return true;
    case 0x2d: result.offset = a.offset < b.offset; return true;
    case 0x2e: result.offset = a.offset != b.offset; return true;
    default: return false;
  }
}

// The value that an operation pushes without popping; false when `op` is none of these.
bool pushed(uint8_t op, Cursor& code, uint64_t pc, Value& value) {
  value = Value{};
  if (op >= 0x30 && op <= 0x4f) return value.offset = op - 0x30, true;  // lit0 … lit31
  if (op >= 0x70 && op <= 0x8f) {                                       // breg0 … breg31
    const uint64_t reg = op - 0x70u;
    value.offset = code.sleb();
    if (reg == Arch::kDwarfSp) return value.base = Value::kSp, true;
    if (reg == Arch::kDwarfFp) return value.base = Value::kFp, true;
    value.offset = add(value.offset, static_cast<int64_t>(pc));
    return reg == Arch::kDwarfReturn;
  }
  switch (op) {
    case 0x08: value.offset = code.u8(); return true;
    case 0x09: value.offset = code.s8(); return true;  // NOLINT(bugprone-signed-char-misuse): const1s is signed
    case 0x0a: value.offset = code.u16(); return true;
    case 0x0b: value.offset = code.s16(); return true;
    case 0x0c: value.offset = code.u32(); return true;
    case 0x0d: value.offset = code.s32(); return true;
    case 0x0e: value.offset = static_cast<int64_t>(code.u64()); return true;
    case 0x0f: value.offset = code.s64(); return true;
    case 0x10: value.offset = static_cast<int64_t>(code.uleb()); return true;
    case 0x11: value.offset = code.sleb(); return true;
    default: return false;
  }
}

bool unary(uint8_t op, Cursor& code, Value& value) {
  switch (op) {
    case 0x06:  // deref
      if (value.deref || value.base == Value::kConstant) return false;
      value.deref = true;
      return true;
    case 0x23:  // plus_uconst
      return plus(value, {Value::kConstant, false, static_cast<int64_t>(code.uleb())}, value);
    case 0x96: return true;  // nop
    default: return false;
  }
}

bool is_unary(uint8_t op) { return op == 0x06 || op == 0x23 || op == 0x96; }

}  // namespace

bool evaluate(Cursor code, uint64_t pc, const Value* initial, Value& result) {
  Stack stack;
  if (initial) stack.push(*initial);
  while (code.left() != 0) {
    const uint8_t op = code.u8();
    Value a, b, value;
    if (is_unary(op)) {
      if (!stack.pop(value) || !unary(op, code, value)) return false;
    } else if (!pushed(op, code, pc, value)) {
      if (!stack.pop(b) || !stack.pop(a) || !binary(op, a, b, value)) return false;
    }
    if (!code.ok() || !stack.push(value)) return false;
  }
  return code.ok() && stack.pop(result);
}

}  // namespace penna::unwind
