// SPDX-License-Identifier: MIT
// Names for people: C++ symbol names demangled in full, in short, or not at all.
//
// Why a guard: a mangled name of a hundred letters can stand for gigabytes of text (each substitution may contain the
// one before it twice). Invariant: a name whose expansion could exceed kDemangleLimit is left as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace penna {

enum class Demangle : uint8_t {
  kNo,      // _ZN2ns3BoxIlE3getEl
  kSimple,  // ns::Box::get
  kShort,   // std::vector<Order>::push_back(Order const&), see shortened_name.h
  kFull,    // ns::Box<long>::get(long), without the return type
};

// An upper bound, in characters, for the text of a mangled name; above it the name is not demangled.
inline constexpr uint64_t kDemangleLimit = uint64_t{1} << 24;

// The name to show. Every style but kNo drops the symbol version ("cfree@GLIBC_2.2.5" is "cfree"), and the number that
// link-time optimisation appends ("init.lto_priv.0" is "init"); kSimple also drops the mark of clones ("f.part.0" is
// "f"). Otherwise names that are not C++, or cannot be demangled, are returned unchanged.
std::string demangle(std::string_view raw, Demangle style);

// A fully demangled name in another style; kNo leaves it as it is.
std::string in_style(std::string_view full, Demangle style);

// Upper bound of the demangled size of an Itanium-mangled name (C++ ABI, 5.1.10: <substitution>).
uint64_t demangled_size_bound(std::string_view raw);

// A demangled name without parameters and template arguments, for example "std::vector<int>::push_back(int const&)" is
// "std::vector::push_back"; lambdas keep a short "{lambda}" with number.
std::string simple_name(std::string_view full);

// The number of parameters of a fully demangled function: 2 for "A::f(int, char (*)(int, int)) const", also with a
// following "...". nullopt: the text has no recognisable parameters.
std::optional<size_t> parameter_count(std::string_view full);

}  // namespace penna
