// SPDX-License-Identifier: MIT
// The instruction that a breakpoint hides: how a thread that has hit the breakpoint gets past it, while the breakpoint
// stays in place for other threads.
//
// Most instructions run as a copy elsewhere (append_moved_code() in detour.h), followed by a jump back. A call would
// leave the copy's address on the stack, where unwinders find it, so the tracer makes the call for the thread.
// Invariant: an instruction that might do something else elsewhere is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "plan/probe_operand.h"

namespace penna {

struct DisplacedInstruction {
  enum Way : uint8_t {
    kNothing,  // a nop: continue after it
    kCall,     // push the address after it, continue at the value of `target`
    kCopy      // run a copy
  } way = kCopy;
  uint8_t length = 0;     // bytes
  ProbeOperand target{};  // kCall; a memory operand without a base has ProbeOperand::kNone there
};

struct DisplacedOffer {
  std::optional<DisplacedInstruction> one;
  const char* refusal = nullptr;  // when there is none: "is a trap"
};

// The one that begins `code`, which stands at the run-time address `at`.
DisplacedOffer look_at_displaced(std::span<const uint8_t> code, uint64_t at);

}  // namespace penna
