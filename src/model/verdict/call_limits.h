// SPDX-License-Identifier: MIT
// CallLimit: how often something may happen inside functions of a name; which of many limits a function is under.
//
// Invariant: bit i of what is given stands for limit i; there are at most kMostCallLimits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/calls/call_tree.h"
#include "model/names/function_pattern.h"
#include "model/names/names.h"

namespace penna {

struct CallLimit {
  FunctionPattern pattern{std::string()};
  uint64_t allowed = 0;
};
inline constexpr size_t kMostCallLimits = 64;

// The limits that are about a function.
uint64_t limit_bits(const std::vector<CallLimit>& limits, const std::string& function);
// By node of the tree: the limits about any function that is open in it.
std::vector<uint64_t> limit_bits_of_calls(const CallTree& tree, Names& names, const std::vector<CallLimit>& limits);

}  // namespace penna
