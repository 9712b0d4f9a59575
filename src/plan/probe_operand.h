// SPDX-License-Identifier: MIT
// Where a probe of another header has an argument, as numbers: "-4@%edi" or "8@-8(%rbp)" of its note
// (symbols/points/sdt_args.h), for x86-64.
//
// Invariant: anything that is not fully understood is refused, with its reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "symbols/points/sdt_args.h"

namespace penna {

// Numbers of registers as in machine code: 0 rax, 1 rcx, 2 rdx, 3 rbx, 4 rsp, 5 rbp, 6 rsi, 7 rdi, 8 to 15.
struct ProbeOperand {
  enum Kind : uint8_t { kConstant, kRegister, kMemory } kind = kConstant;
  uint8_t bytes = 8;  // 1, 2, 4 or 8
  bool is_signed = false;
  bool is_high = false;  // kRegister: ah, ch, dh or bh; `base` is 0 to 3
  uint8_t base = 0;      // of the register, or of the address
  uint8_t index = kNone;
  uint8_t scale = 1;
  int64_t number = 0;  // the constant, or the displacement
  static constexpr uint8_t kNone = 0xff;
};

struct OperandOffer {
  std::optional<ProbeOperand> operand;
  const char* refusal = nullptr;  // when there is none: "is a vector register"
};
OperandOffer parse_probe_operand(const SdtArg& argument);

// Whether it is memory in the frame of the function: addressed by the stack pointer, or below the frame pointer, which
// some code uses for other addresses.
bool is_in_frame(const ProbeOperand& operand);

}  // namespace penna
