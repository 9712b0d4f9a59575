// SPDX-License-Identifier: MIT
// Nodes of the stack tree as columns: the transformation for layout::Codec::kStackColumns. docs/format.md specifies it.
//
// Why: a node is nearly always the child of the preceding one, one deeper, and few return addresses make most nodes.
// Invariant: from_stack_columns(to_stack_columns(x)) == x for any payload of a block of stacks, bit by bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penna {

// Encodes one block after another.
class StackColumnEncoder {
 public:
  // `payload`: of a block of stacks. `out` is reused. False if the payload is not one.
  bool encode(std::span<const uint8_t> payload, std::vector<uint8_t>& out);

 private:
  uint32_t number_of(uint64_t pc);

  std::vector<uint32_t> slots_;  // hash table of numbers + 1
  std::vector<uint64_t> pcs_;    // by number, in order of appearance
  std::vector<uint8_t> parents_, depths_, pc_codes_;
};

// The maximum size of such a payload's columns.
size_t max_stack_column_bytes(size_t payload_bytes);

// False if `columns` do not encode a payload of `payload_bytes`. Thread-safe.
bool from_stack_columns(std::span<const uint8_t> columns, size_t payload_bytes, std::vector<uint8_t>& payload);

}  // namespace penna
