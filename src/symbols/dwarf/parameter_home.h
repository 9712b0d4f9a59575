// SPDX-License-Identifier: MIT
// ParameterHome: what DWARF says of a parameter at the first instruction of its function (DW_AT_location, DWARF 5,
// 2.6).
//
// Why: only this tells whether a compiler changed a function that nobody else calls.
// Invariant: kUnknown for everything that is no plain register, run of registers, or memory.
#pragma once

#include <elfutils/libdw.h>

#include <array>
#include <cstdint>

#include "symbols/dwarf/value_places.h"

namespace penna {

struct ParameterHome {
  enum class Kind : uint8_t {
    kUnknown,    // none, a constant, an expression
    kRegisters,  // the value is in words[0], or in words[0] and words[1]; only argument registers
    kBehind,     // words[0] has its address
    kMemory,     // of the frame or the caller's: where it is kept all the time, so it exists
  };
  Kind kind = Kind::kUnknown;
  std::array<ValueWord, 2> words{};

  // Whether both say the same; memory says nothing else than that the parameter exists.
  bool confirms(const ValuePlace& place) const;
  // Whether it names one argument register that is not the ABI's.
  bool contradicts(const ValuePlace& place) const;
};

ParameterHome home_of(Dwarf_Die* parameter, uint64_t entry);

}  // namespace penna
