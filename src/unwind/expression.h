// SPDX-License-Identifier: MIT
// DWARF expressions in CFI, evaluated symbolically: the result is sp, fp or the CFA plus a constant, perhaps loaded
// from.
//
// Why symbolic: a rule must hold for every visit of its pc, so it may depend on registers only in ways that Rule can
// express. pc itself is known when the rule is made, which turns the PLT's "(rip & 15) >= 11" into a constant.
// Invariant: bounded stack, no loops (branches are refused): ends after one pass over the bytes.
#pragma once

#include "unwind/cursor.h"

namespace penna::unwind {

struct Value {
  enum Base : uint8_t { kConstant, kSp, kFp, kCfa };
  Base base = kConstant;
  bool deref = false;  // the value is the word at base + offset, not base + offset
  int64_t offset = 0;
};

// Evaluates `code` at pc. `initial`, when given, is what the stack holds at the start (the CFA, for register rules).
// False: something that Value cannot express.
bool evaluate(Cursor code, uint64_t pc, const Value* initial, Value& result);

}  // namespace penna::unwind
