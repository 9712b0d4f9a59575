// SPDX-License-Identifier: MIT
// Where values are passed: classification by eightbytes, and the registers and stack words that a function's values
// take.
//
// Why: DWARF says where a parameter lives once the function runs; at its first instruction, and for results, only the
// ABI does. Sources: System V psABI for x86-64 1.0, 3.2.3 "Parameter Passing"; Itanium C++ ABI 3.1.1 and 3.1.2.
// https://gitlab.com/x86-psABIs/x86-64-ABI   https://itanium-cxx-abi.github.io/cxx-abi/abi.html
// Invariant: a value whose type is not fully known has no place, nor do those that follow it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "penna/value_plan.h"
#include "symbols/dwarf/dwarf_types.h"

namespace penna {

// Argument registers.
inline constexpr unsigned kIntegerRegisters = 6, kVectorRegisters = 8;

enum class PassClass : uint8_t { kNone, kInteger, kSse, kSseUp, kX87, kX87Up, kComplexX87, kMemory };

// How a type is passed, regardless of which registers are left.
struct Passing {
  static constexpr size_t kMaxWords = 8;  // __m512
  bool by_reference = false;              // by address: an INTEGER
  bool memory = false;                    // copied to the stack; as a result: at a hidden pointer
  bool x87 = false;                       // as a result, however, in st0, or st0 and st1
  bool split = false;                     // its eightbytes are placed one by one: AbiVariant::split_int128
  bool takes_last = false;  // uses up the last register if it does not suffice: AbiVariant::int128_takes_last
  uint64_t bytes = 0;
  uint64_t align = 8;  // on the stack; at least 8
  size_t words = 0;    // eightbytes in `classes`; 0: empty, takes nothing
  std::array<PassClass, kMaxWords> classes{};
};

// Where clang deviates from the psABI.
struct AbiVariant {
  // Before clang 18 half of an __int128 may be in a register and half on the stack, where it is aligned to 8 (its
  // release notes, "ABI changes": -fclang-abi-compat=17).
  bool split_int128 = false;
  // Since then it is in memory as a whole, but what follows does not get the remaining register (measured, 18 and 19).
  bool int128_takes_last = false;
  // A class that ends with an array without bound is in memory, however small (measured, clang 14).
  bool flexible_in_memory = false;

  // `clang`: its major version; 0 = another compiler.
  static AbiVariant of_clang(unsigned clang) { return {clang != 0 && clang < 18, clang >= 18, clang != 0}; }
};

// nullopt: the type is not fully known.
std::optional<Passing> classify(TypeReader* reader, const DwarfType& type, const AbiVariant& variant);

// A register, or a stack word.
struct ValueWord {
  uint8_t place = 0;  // penna_value_place; 0: this eightbyte is padding
  uint8_t number = 0;
};

// Where one value is.
struct ValuePlace {
  enum class Kind : uint8_t {
    kNothing,    // an empty class: nowhere
    kRegisters,  // word i has bytes 8 i to 8 i + 7
    kStack,      // from words[0] on, contiguous
    kBehind,     // words[0] has its address
    kLeftOut,    // known to be passed, but not where a penna_value can refer to: x87 registers, words beyond the 255th
  };
  Kind kind = Kind::kNothing;
  std::array<ValueWord, 2> words{};
};

// Assigns places in parameter order.
class ArgumentPlaces {
 public:
  ValuePlace next(const Passing& passing);
  // The hidden pointer of a result in memory comes first, even before `this`.
  void skip_integer() { ++integers_; }

 private:
  ValuePlace on_stack(const Passing& passing);

  uint64_t integers_ = 0, vectors_ = 0, stack_ = 0;  // stack_ in bytes
};

ValuePlace result_place(const Passing& passing);
// Whether the caller passes the address for a result of this type in rdi.
inline bool result_takes_pointer(const Passing& passing) {
  return passing.by_reference || (passing.memory && !passing.x87);
}

}  // namespace penna
