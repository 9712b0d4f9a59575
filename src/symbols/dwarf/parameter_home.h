// SPDX-License-Identifier: MIT
// ParameterLocation: where DWARF says a parameter is at the first instruction of its function (DW_AT_location, DWARF 5,
// 2.6).
//
// Why: nothing else shows whether a compiler changed a function that has no outside callers.
// Invariant: kUnknown for everything that is not a plain register, run of registers, or memory.
#pragma once

#include <elfutils/libdw.h>

#include <array>
#include <cstdint>

#include "symbols/dwarf/value_places.h"

namespace penna {

struct ParameterLocation {
  enum class Kind : uint8_t {
    kUnknown,    // none, a constant, an expression
    kRegisters,  // the value is in words[0], or in words[0] and words[1]; only argument registers
    kBehind,     // words[0] has its address
    kMemory,     // of the frame or the caller: its permanent location, so it exists
  };
  Kind kind = Kind::kUnknown;
  std::array<ValueWord, 2> words{};

  // Whether both agree; memory only says that the parameter exists.
  bool confirms(const ValuePlace& place) const;
  // Whether it names a single argument register that is not the ABI's.
  bool contradicts(const ValuePlace& place) const;
};

ParameterLocation home_of(Dwarf_Die* parameter, uint64_t entry);

}  // namespace penna
