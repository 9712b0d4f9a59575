// SPDX-License-Identifier: MIT
// CallLimit: how often something may happen inside functions of a name; which of many limits apply to a function.
//
// Invariant: bit i of a result stands for limit i; there are at most kMostCallLimits.
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

// The limits that apply to a function.
uint64_t limit_bits(const std::vector<CallLimit>& limits, const std::string& function);
// By node of the tree: the limits that apply to any function open in it.
std::vector<uint64_t> limit_bits_of_calls(const CallTree& tree, Names& names, const std::vector<CallLimit>& limits);

}  // namespace penna
