// SPDX-License-Identifier: MIT
// C++ names as one would write them: "std::vector<Order>::push_back(Order const&)" for
// "std::vector<Order, std::allocator<Order> >::push_back(Order const&)".
//
// Why: template arguments make most names longer than a line, and say little about a function.
// Invariant: shortening a shortened name does not change it.
#pragma once

#include <string>
#include <string_view>

namespace penna {

// Leaves out a standard template's default arguments (allocators, comparisons, hashes, traits), inline namespaces and
// ABI tags; writes std::string for what it stands for; and replaces deeply nested or numerous arguments by "…". `full`:
// demangled, without its return type.
std::string shortened_name(std::string_view full);
// False: the name stays as it is.
bool may_be_shortened(std::string_view full);

}  // namespace penna
