// SPDX-License-Identifier: MIT
// Nodes of the stack tree as columns: the transformation behind layout::Codec::kStackColumns. docs/format.md specifies
// it.
//
// Why: a node is nearly always the child of the one in front of it, one deeper, and few return addresses make most
// nodes.
// Invariant: from_stack_columns(to_stack_columns(x)) == x for any payload of a block of stacks, bit by bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penna {

// Encodes one block after the other.
class StackColumnEncoder {
 public:
  // `payload`: of a block of stacks. `out` is reused. False when the payload is none.
  bool encode(std::span<const uint8_t> payload, std::vector<uint8_t>& out);

 private:
  uint32_t number_of(uint64_t pc);

  std::vector<uint32_t> slots_;  // hash table of numbers + 1
  std::vector<uint64_t> pcs_;    // by number, in the order in which they were met
  std::vector<uint8_t> parents_, depths_, pc_codes_;
};

// The most bytes that the columns of such a payload can have.
size_t max_stack_column_bytes(size_t payload_bytes);

// False when `columns` are not those of a payload of `payload_bytes`. Thread-safe.
bool from_stack_columns(std::span<const uint8_t> columns, size_t payload_bytes, std::vector<uint8_t>& payload);

}  // namespace penna
