// SPDX-License-Identifier: MIT
// Value specs: which values of which function a user wants, by register: "open@arg1/s,arg2/x,retval/d".
//
// Why: programs without debug information, and functions that a compiler changed, still have registers.
// Grammar, as of uftrace's -A and -R:  FUNC [@ VALUE {, VALUE}],  VALUE = PLACE [/ FORMAT [BITS]]
//   PLACE   argN: the Nth integer register (rdi, rsi, rdx, rcx, r8, r9), from 7 on the words of the stack;
//           fpargN: xmm0 to xmm7; retval: rax, with /f xmm0
//   FORMAT  d, i signed (the default), u unsigned, x hex, each with 8, 16, 32 or 64 BITS, default 64; c character, b
// bool,
//           s text of a char*, S of a std::string, p address of code; f float of 32 or 64 BITS, default 64: fpargN and
// retval
// Invariant: every value of a parsed spec is one that a target can execute.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbols/dwarf/signature.h"

namespace penna {

struct ValueSpec {
  // The pattern in front of the '@', as -F takes it. Text, because FunctionPattern belongs to the model, which nothing
  // in here may know: whoever asks for values makes one of it.
  std::string function;
  bool by_types = false;                          // no '@': the function's own types say what there is (Signatures)
  std::vector<CapturedValue> arguments, results;  // each at most PENNA_MAX_ARGS; named arg1, fparg1, return
};

// The error names the part that is wrong and what is allowed there.
Result<ValueSpec> parse_value_spec(std::string_view text);

}  // namespace penna
