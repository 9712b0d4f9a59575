// SPDX-License-Identifier: MIT
// See call_limits.h. Parents come before their children in the tree.
#include "model/verdict/call_limits.h"

namespace penna {

uint64_t limit_bits(const std::vector<CallLimit>& limits, const std::string& function) {
  uint64_t bits = 0;
  for (size_t i = 0; i < limits.size(); ++i)
    if (limits[i].pattern.matches(function)) bits |= uint64_t{1} << i;
  return bits;
}

// A node has the limits of its own function and of all its callers: they are open, too. One pass, as parents come
// first.
std::vector<uint64_t> limit_bits_of_calls(const CallTree& tree, Names& names, const std::vector<CallLimit>& limits) {
  std::vector<uint64_t> of_function(tree.functions().size());
  for (FunctionId id = 0; id < of_function.size(); ++id)
    of_function[id] = limit_bits(limits, names.full_function_name(tree.functions().place(id)));
  const std::vector<CallNode>& nodes = tree.nodes();
  std::vector<uint64_t> bits(nodes.size());
  for (size_t i = 1; i < nodes.size(); ++i)
    bits[i] = bits[nodes[i].parent] | (nodes[i].function == kNoFunction ? 0 : of_function[nodes[i].function]);
  return bits;
}

}  // namespace penna
