// SPDX-License-Identifier: MIT
// Names of C++ as one would write them: "std::vector<Order>::push_back(Order const&)" for
// "std::vector<Order, std::allocator<Order> >::push_back(Order const&)".
//
// Why: the arguments of templates make most names longer than a line, and say little of what a function is.
// Invariant: a shortened name, shortened again, stays as it is.
#pragma once

#include <string>
#include <string_view>

namespace penna {

// Leaves out what a standard template would have by itself (allocators, comparisons, hashes, traits), inline namespaces
// and ABI tags; writes std::string for what that stands for; and puts "…" for arguments that are deep or many. `full`:
// demangled, without its return type.
std::string shortened_name(std::string_view full);
// False: the name stays as it is.
bool may_be_shortened(std::string_view full);

}  // namespace penna
