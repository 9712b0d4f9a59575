// SPDX-License-Identifier: MIT
// Runs the call frame instructions of one FDE up to a pc and expresses the row there as a FrameRule. See cfi.h.
//
// Only three rules are tracked: the CFA, the frame pointer and the return address; instructions about other registers
// are read and dropped. What a FrameRule cannot express becomes kUnsupported: the walk then stops and reports it.
#include "unwind/arch.h"
#include "unwind/cfi.h"
#include "unwind/expression.h"

namespace penna::unwind {
namespace {

// Where a register of the caller is, DWARF 5 section 6.4.1.
struct RegisterRule {
  enum Kind : uint8_t { kSame, kUndefined, kOffset, kExpression, kElsewhere };
  Kind kind = kSame;
  int64_t offset = 0;               // kOffset: saved at CFA + offset
  uint64_t code = 0, code_end = 0;  // kExpression: addresses of the expression that yields where it was saved
};

struct CfaRule {
  bool by_expression = false;
  uint64_t reg = 0;
  int64_t offset = 0;
  uint64_t code = 0, code_end = 0;
};

struct Row {
  CfaRule cfa;
  RegisterRule fp;
  RegisterRule ra;
};

class Program {
 public:
  Program(const Section& frame, const Fde& fde, uint64_t pc) : frame_(frame), fde_(fde), pc_(pc) {}

  // False: an instruction that is not supported.
  bool run() {
    location_ = fde_.begin;
    if (!run(Cursor(frame_, fde_.cie.instructions, fde_.cie.end), /*initial=*/true)) return false;
    initial_ = row_;
    depth_ = 0;
    return run(Cursor(frame_, fde_.instructions, fde_.instructions_end), /*initial=*/false);
  }
  const Row& row() const { return row_; }

 private:
  bool run(Cursor in, bool initial) {
    while (in.left() != 0 && !done_) {
      const uint8_t byte = in.u8();
      const uint8_t low = byte & 0x3f;
      switch (byte >> 6) {
        case 1: advance(low, initial); break;
        case 2: set(low, {RegisterRule::kOffset, factored(in.uleb())}); break;
        case 3: restore(low); break;
        default:
          if (!extended(in, low, initial)) return false;
      }
      if (!in.ok()) return false;
    }
    return true;
  }

  bool extended(Cursor& in, uint8_t op, bool initial) {
    uint64_t reg, target;
    switch (op) {
      case 0x00: return true;  // nop
      case 0x01:               // set_loc
        if (!read_pointer(in, fde_.cie.fde_encoding, 0, target)) return false;
        return move_to(target, initial), true;
      case 0x02: return advance(in.u8(), initial), true;
      case 0x03: return advance(in.u16(), initial), true;
      case 0x04: return advance(in.u32(), initial), true;
      case 0x1d: return advance(in.u64(), initial), true;  // MIPS_advance_loc8
      case 0x05: reg = in.uleb(); return set(reg, {RegisterRule::kOffset, factored(in.uleb())}), true;
      case 0x06: return restore(in.uleb()), true;
      case 0x07: return set(in.uleb(), {RegisterRule::kUndefined}), true;
      case 0x08: return set(in.uleb(), {RegisterRule::kSame}), true;
      case 0x09:
        reg = in.uleb();
        in.uleb();
        return set(reg, {RegisterRule::kElsewhere}), true;  // in another register
      case 0x0a: return remember();
      case 0x0b: return recall();
      case 0x0c: reg = in.uleb(); return define_cfa(reg, static_cast<int64_t>(in.uleb())), true;
      case 0x12: reg = in.uleb(); return define_cfa(reg, factored(in.sleb())), true;
      case 0x0d: return define_cfa(in.uleb(), row_.cfa.offset), true;
      case 0x0e: return define_cfa(row_.cfa.reg, static_cast<int64_t>(in.uleb())), true;
      case 0x13: return define_cfa(row_.cfa.reg, factored(in.sleb())), true;
      case 0x0f: {  // def_cfa_expression
        const Cursor code = block(in);
        row_.cfa = {true, 0, 0, code.address(), code.address() + code.left()};
        return true;
      }
      case 0x10: {  // expression
        reg = in.uleb();
        const Cursor code = block(in);
        return set(reg, {RegisterRule::kExpression, 0, code.address(), code.address() + code.left()}), true;
      }
      case 0x11: reg = in.uleb(); return set(reg, {RegisterRule::kOffset, factored(in.sleb())}), true;
      case 0x2f:  // GNU_negative_offset_extended
        reg = in.uleb();
        return set(reg, {RegisterRule::kOffset, factored(-static_cast<int64_t>(in.uleb() & INT64_MAX))}), true;
      case 0x14:  // val_offset
      case 0x15:
        reg = in.uleb();
        in.uleb();
        return set(reg, {RegisterRule::kElsewhere}), true;
      case 0x16:
        reg = in.uleb();
        block(in);
        return set(reg, {RegisterRule::kElsewhere}), true;  // val_expression
      case 0x2e: in.uleb(); return true;                    // GNU_args_size: matters to landing pads only
      default: return false;
    }
  }

  static Cursor block(Cursor& in) { return in.take(in.uleb()); }

  // Products wrap around on nonsense input instead of being undefined.
  int64_t factored(uint64_t value) const {
    return static_cast<int64_t>(value * static_cast<uint64_t>(fde_.cie.data_align));
  }
  int64_t factored(int64_t value) const { return factored(static_cast<uint64_t>(value)); }

  // A row holds from its location to the next: stop at the first location beyond pc. The initial instructions of a CIE
  // have no locations.
  void advance(uint64_t delta, bool initial) { move_to(location_ + delta * fde_.cie.code_align, initial); }
  void move_to(uint64_t location, bool initial) {
    if (initial) return;
    if (location > pc_) done_ = true;
    location_ = location;
  }

  RegisterRule* tracked(uint64_t reg) { return tracked(row_, reg); }
  static RegisterRule* tracked(Row& row, uint64_t reg) {
    if (reg == Arch::kDwarfFp) return &row.fp;
    if (reg == Arch::kDwarfReturn) return &row.ra;
    return nullptr;
  }
  void set(uint64_t reg, RegisterRule rule) {
    if (RegisterRule* target = tracked(reg)) *target = rule;
  }
  void restore(uint64_t reg) {
    if (RegisterRule* target = tracked(reg)) *target = *tracked(initial_, reg);
  }
  void define_cfa(uint64_t reg, int64_t offset) { row_.cfa = {false, reg, offset, 0, 0}; }

  bool remember() {
    if (depth_ == kMaxRemembered) return false;
    remembered_[depth_++] = row_;
    return true;
  }
  bool recall() {
    if (depth_ == 0) return false;
    row_ = remembered_[--depth_];
    return true;
  }

  static constexpr int kMaxRemembered = 4;  // compilers nest one deep
  const Section& frame_;
  const Fde& fde_;
  uint64_t pc_;
  uint64_t location_ = 0;
  bool done_ = false;
  int depth_ = 0;
  Row row_, initial_;
  Row remembered_[kMaxRemembered];
};

bool cfa_value(const Section& frame, const CfaRule& cfa, uint64_t pc, Value& value) {
  if (cfa.by_expression) return evaluate(Cursor(frame, cfa.code, cfa.code_end), pc, nullptr, value);
  value = {cfa.reg == Arch::kDwarfFp ? Value::kFp : Value::kSp, false, cfa.offset};
  return cfa.reg == Arch::kDwarfFp || cfa.reg == Arch::kDwarfSp;
}

// Offsets come from untrusted bytes: they wrap around instead of being undefined; usable() rejects the nonsense later.
int64_t wrapping_sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

// The address where a register was saved, as CFA + offset wherever it can be expressed that way.
bool saved_at(const Section& frame, const RegisterRule& rule, const Value& cfa, uint64_t pc, Value& where) {
  if (rule.kind == RegisterRule::kOffset) return where = {Value::kCfa, false, rule.offset}, true;
  if (rule.kind != RegisterRule::kExpression) return false;
  const Value initial{Value::kCfa, false, 0};
  if (!evaluate(Cursor(frame, rule.code, rule.code_end), pc, &initial, where) || where.deref) return false;
  if (where.base == cfa.base && !cfa.deref) where = {Value::kCfa, false, wrapping_sub(where.offset, cfa.offset)};
  return true;
}

bool is_kernel_signal_frame(const Section& frame, const Row& row, const Value& cfa, uint64_t pc) {
  Value ra;
  return cfa.deref && cfa.base == Value::kSp && cfa.offset == Arch::kSignalSp && saved_at(frame, row.ra, cfa, pc, ra) &&
         ra.base == Value::kSp && ra.offset == Arch::kSignalPc;
}

constexpr int64_t kMaxOffset = 1 << 30;
bool usable(int64_t offset) { return offset > -kMaxOffset && offset < kMaxOffset; }

// Fills in how the caller's fp is found. What cannot be expressed is `lost`, which is never wrong: later rules reject
// it.
void say_fp(const Section& frame, const Row& row, const Value& cfa, uint64_t pc, FrameRule& rule) {
  if (row.fp.kind == RegisterRule::kSame) return;
  Value where;
  if (saved_at(frame, row.fp, cfa, pc, where) && usable(where.offset) && where.offset % 8 == 0) {
    rule.fp_offset = static_cast<int32_t>(where.offset);
    if (where.base == Value::kCfa) rule.flags |= FrameRule::kFpAtCfa;
    if (where.base == Value::kFp) rule.flags |= FrameRule::kFpAtFp;
  }
  if (rule.keeps_fp()) rule.flags |= FrameRule::kFpLost;
}

FrameRule say(const Section& frame, const Fde& fde, const Row& row, uint64_t pc) {
  if (row.ra.kind == RegisterRule::kUndefined) return special_rule(FrameRule::kEnd);
  Value cfa, ra;
  if (!cfa_value(frame, row.cfa, pc, cfa)) return special_rule(FrameRule::kUnsupported);
  if (fde.cie.signal_frame && is_kernel_signal_frame(frame, row, cfa, pc)) return special_rule(FrameRule::kSignal);
  const bool base_known = cfa.base == Value::kSp || cfa.base == Value::kFp;
  if (!base_known || !usable(cfa.offset) || cfa.offset % 8 != 0) return special_rule(FrameRule::kUnsupported);
  if (!saved_at(frame, row.ra, cfa, pc, ra) || ra.base != Value::kCfa || ra.offset != Arch::kReturnFromCfa)
    return special_rule(FrameRule::kUnsupported);

  FrameRule rule{0, static_cast<int32_t>(cfa.offset), 0};
  if (cfa.base == Value::kFp) rule.flags |= FrameRule::kBaseFp;
  if (cfa.deref) rule.flags |= FrameRule::kDeref;
  if (fde.cie.signal_frame) rule.flags |= FrameRule::kExact;
  say_fp(frame, row, cfa, pc, rule);
  return rule;
}

}  // namespace

FrameRule run_cfa_program(const Section& frame, const Fde& fde, uint64_t pc) {
  if (fde.cie.return_register != Arch::kDwarfReturn) return special_rule(FrameRule::kUnsupported);
  Program program(frame, fde, pc);
  if (!program.run()) return special_rule(FrameRule::kUnsupported);
  return say(frame, fde, program.row(), pc);
}

}  // namespace penna::unwind
