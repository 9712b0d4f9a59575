// SPDX-License-Identifier: MIT
// Value specs: which values of which function a user wants, by register: "open@arg1/s,arg2/x,retval/d".
//
// Why: programs without debug information, and functions that a compiler changed, still have registers.
// Grammar, as in uftrace's -A and -R:  FUNC [@ VALUE {, VALUE}],  VALUE = PLACE [/ FORMAT [BITS]]
//   PLACE   argN: the Nth integer register (rdi, rsi, rdx, rcx, r8, r9), from 7 on the stack words;
//           fpargN: xmm0 to xmm7; retval: rax, with /f xmm0
//   FORMAT  d, i signed (the default), u unsigned, x hex, each with 8, 16, 32 or 64 BITS, default 64; c character,
//           b bool, s text of a char*, S of a std::string, p code address; f float of 32 or 64 BITS, default 64:
//           fpargN and retval
// Invariant: every value of a parsed spec is one that a target can execute.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbols/dwarf/signature.h"

namespace penna {

struct ValueSpec {
  // The pattern before the '@', as for -F. Text, because FunctionPattern belongs to the model, which this layer must
  // not depend on: the caller makes a pattern from it.
  std::string function;
  bool by_types = false;                          // no '@': the function's own types determine the values (Signatures)
  std::vector<CapturedValue> arguments, results;  // each at most PENNA_MAX_ARGS; named arg1, fparg1, return
};

// The error names the invalid part and what is allowed there.
Result<ValueSpec> parse_value_spec(std::string_view text);

}  // namespace penna
