// SPDX-License-Identifier: MIT
// FrameRule and Rule: how to step from one frame to its caller, in full and packed into 32 bits.
//
// Why two forms: FrameRule is what the CFI parser yields; Rule is what fits beside a 32-bit tag in one atomic word of
// the rule cache. A FrameRule that does not fit (frames over 256 KiB) is packed as `wide`: the walker then parses
// again. Only the program counter, the stack pointer and the frame pointer are tracked: every other register is
// irrelevant to where a frame lies in code that gcc and clang emit.
// Invariant: unpack(pack(r)) == r unless pack(r) is `wide`; no valid rule packs to 0, which means "empty cache entry".
#pragma once

#include <cstdint>

namespace penna::unwind {

// What is known at one pc. CFA = canonical frame address = the stack pointer in the caller after the return.
struct FrameRule {
  enum Flag : uint8_t {
    kBaseFp = 1,   // the CFA counts from the frame pointer; otherwise from the stack pointer
    kFpAtCfa = 2,  // the caller's fp was saved at CFA + fp_offset; with neither kFpAt… bit fp has not changed
    kDeref = 4,    // the CFA is the word at base + cfa_offset, not that address itself (gcc's realigned stacks)
    kFpAtFp = 8,   // the caller's fp was saved at fp + fp_offset
    kFpLost = 16,  // the caller's fp cannot be known; it becomes 0, which no later rule accepts
    kExact = 32,   // 'S' augmentation: the caller's pc is the interrupted instruction, not a return address
    kSpecial = kFpAtFp | kFpLost,  // both: no frame layout, `special` says what it is
  };
  enum Special : int32_t {
    kNone = 1,         // a module without CFI for this pc, or no module
    kUnsupported = 2,  // CFI that needs registers that are not tracked
    kWide = 3,         // packed form only
    kEnd = 4,          // outermost frame: the return address is undefined
    kSignal = 5,       // the kernel's signal frame: all registers are in its ucontext
    kStandIn = 6,      // not a frame: this pc stands for its caller's (StandIns in walk.h)
  };

  uint8_t flags = kSpecial;
  int32_t cfa_offset = kNone;  // bytes; the Special code when the flags say kSpecial
  int32_t fp_offset = 0;       // bytes

  bool is_special() const { return (flags & kSpecial) == kSpecial; }
  bool is(Special what) const { return is_special() && cfa_offset == what; }
  bool uses_fp() const;  // the step itself depends on the value of fp
  bool keeps_fp() const { return (flags & (kFpAtCfa | kFpAtFp | kFpLost)) == 0; }
  friend bool operator==(const FrameRule& a, const FrameRule& b) {
    return a.flags == b.flags && a.cfa_offset == b.cfa_offset && a.fp_offset == b.fp_offset;
  }
};

constexpr FrameRule special_rule(FrameRule::Special what) { return {FrameRule::kSpecial, what, 0}; }

inline bool FrameRule::uses_fp() const {
  // A frame without a rule is stepped by its frame pointer, if at all: what becomes of it depends on fp.
  if (is_special()) return cfa_offset == kNone;
  return (flags & (kBaseFp | kFpAtFp)) != 0;
}

// 31            16 15        6 5         0
// ┌───────────────┬───────────┬───────────┐
// │ cfa_offset / 8│fp_offset/8│   flags   │   offsets are signed; special: the code itself instead of cfa_offset / 8
// └───────────────┴───────────┴───────────┘
struct Rule {
  uint32_t bits = 0;

  bool empty() const { return bits == 0; }
  // The common case, decided by one test: CFA = sp or fp + constant, fp kept or saved below the CFA.
  bool plain() const { return (bits & 0x3c) == 0; }
  bool base_is_fp() const { return (bits & FrameRule::kBaseFp) != 0; }
  bool restores_fp() const { return (bits & FrameRule::kFpAtCfa) != 0; }
  intptr_t cfa_offset() const { return intptr_t{static_cast<int32_t>(bits) >> 16} * 8; }
  intptr_t fp_offset() const { return intptr_t{static_cast<int16_t>(bits) >> 6} * 8; }
};
static_assert(sizeof(Rule) == 4);

inline constexpr Rule kWideRule{(uint32_t{FrameRule::kWide} << 16) | FrameRule::kSpecial};
inline constexpr Rule kEndRule{(uint32_t{FrameRule::kEnd} << 16) | FrameRule::kSpecial};

inline constexpr Rule kStandInRule{(uint32_t{FrameRule::kStandIn} << 16) | FrameRule::kSpecial};

inline Rule pack(const FrameRule& rule) {
  if (rule.is_special()) return {(static_cast<uint32_t>(rule.cfa_offset) << 16) | rule.flags};
  // A plain rule reads the word at CFA + fp_offset even where fp is kept (no branch): make that the return address.
  const int32_t fp_offset = rule.keeps_fp() ? -8 : rule.fp_offset;
  const bool plain = (rule.flags & 0x3c) == 0;
  const bool fits = rule.cfa_offset % 8 == 0 && rule.cfa_offset >= -(1 << 18) && rule.cfa_offset < (1 << 18) &&
                    fp_offset % 8 == 0 && fp_offset >= -(1 << 12) && fp_offset < (plain ? 0 : 1 << 12) &&
                    !(plain && rule.cfa_offset == 0);
  if (!fits) return kWideRule;
  return {static_cast<uint32_t>(rule.cfa_offset / 8) << 16 | (static_cast<uint32_t>(fp_offset / 8) & 0x3ff) << 6 |
          rule.flags};
}

// The inverse of pack; for kWideRule it returns the special rule kWide. fp_offset of a rule that keeps fp becomes 0.
inline FrameRule unpack(Rule rule) {
  FrameRule full;
  full.flags = rule.bits & 0x3f;
  if (full.is_special()) return special_rule(static_cast<FrameRule::Special>(rule.bits >> 16));
  full.cfa_offset = static_cast<int32_t>(rule.cfa_offset());
  full.fp_offset = full.keeps_fp() ? 0 : static_cast<int32_t>(rule.fp_offset());
  return full;
}

}  // namespace penna::unwind
