// SPDX-License-Identifier: MIT
// See stack_columns.h.
#include "recording/columns/stack_columns.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "penna/channel.h"
#include "recording/columns/column_io.h"

namespace penna {
namespace {

constexpr size_t kFirstBytes = sizeof(uint64_t);               // of a payload: the id of the first node
constexpr size_t kTable = kFirstBytes + 2 * sizeof(uint32_t);  // of columns: the same, and the sizes of the first two
constexpr size_t kMostOfNode = 5 + 5 + 5 + 10;

bool has_whole_nodes(size_t payload_bytes) {
  return payload_bytes >= kFirstBytes && (payload_bytes - kFirstBytes) % sizeof(penna_stack_node) == 0;
}

template <typename T>
T value_at(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Seven bits a byte, low ones first; all but the last have the eighth bit set.
void put_varint(std::vector<uint8_t>& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<uint8_t>(value | 0x80));
  out.push_back(static_cast<uint8_t>(value));
}
uint64_t take_varint(CodeLane& in, bool& ok) {
  uint64_t value = 0;
  for (uint32_t shift = 0; shift < 64; shift += 7) {
    const uint64_t byte = take_code(in, ok);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  ok = false;
  return 0;
}
void put_difference(std::vector<uint8_t>& out, uint32_t value, uint32_t expected) {
  put_varint(out, zigzag(static_cast<uint64_t>(int64_t{value} - int64_t{expected})));
}
uint32_t take_difference(CodeLane& in, uint32_t expected, bool& ok) {
  return expected + static_cast<uint32_t>(unzigzag(take_varint(in, ok)));
}

// A node's predicted depth: its parent's plus one, or, if that is in an earlier block, the depth of the preceding node.
uint32_t expected_depth(const uint8_t* nodes, size_t index, uint64_t first, uint32_t parent) {
  const auto depth_of = [nodes](uint64_t node) {
    return value_at<penna_stack_node>(nodes + node * sizeof(penna_stack_node)).depth_flags;
  };
  if (parent >= first && parent - first < index) return (depth_of(parent - first) & 0xffff) + 1;
  return index != 0 ? depth_of(index - 1) : 0;
}

}  // namespace

// A new pc is appended to pcs_.
uint32_t StackColumnEncoder::number_of(uint64_t pc) {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash_bits(pc, 32) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask)
    if (pcs_[slots_[slot] - 1] == pc) return slots_[slot] - 1;
  pcs_.push_back(pc);
  slots_[slot] = static_cast<uint32_t>(pcs_.size());
  return slots_[slot] - 1;
}

bool StackColumnEncoder::encode(std::span<const uint8_t> payload, std::vector<uint8_t>& out) {
  if (!has_whole_nodes(payload.size())) return false;
  const auto first = value_at<uint64_t>(payload.data());
  const uint8_t* const nodes = payload.data() + kFirstBytes;
  const size_t count = (payload.size() - kFirstBytes) / sizeof(penna_stack_node);
  slots_.assign(std::bit_ceil(2 * count + 1), 0);
  pcs_.clear();
  for (auto* column : {&parents_, &depths_, &pc_codes_}) column->clear();
  for (size_t i = 0; i < count; ++i) {
    const auto node = value_at<penna_stack_node>(nodes + i * sizeof(penna_stack_node));
    put_difference(parents_, node.parent, static_cast<uint32_t>(first + i - 1));
    put_difference(depths_, node.depth_flags, expected_depth(nodes, i, first, node.parent));
    const size_t met = pcs_.size();
    const uint32_t number = number_of(node.pc_generation);
    put_varint(pc_codes_, number < met ? number + 1 : 0);
    if (number == met) put_varint(pc_codes_, zigzag(node.pc_generation - (met != 0 ? pcs_[met - 1] : 0)));
  }
  const uint32_t sizes[] = {static_cast<uint32_t>(parents_.size()), static_cast<uint32_t>(depths_.size())};
  out.resize(kTable);
  std::memcpy(out.data(), &first, sizeof first);
  std::memcpy(out.data() + kFirstBytes, sizes, sizeof sizes);
  for (const auto* column : {&parents_, &depths_, &pc_codes_}) out.insert(out.end(), column->begin(), column->end());
  return true;
}

size_t max_stack_column_bytes(size_t payload_bytes) {
  return kTable + payload_bytes / sizeof(penna_stack_node) * kMostOfNode;
}

bool from_stack_columns(std::span<const uint8_t> columns, size_t payload_bytes, std::vector<uint8_t>& payload) {
  if (!has_whole_nodes(payload_bytes) || columns.size() < kTable) return false;
  const auto first = value_at<uint64_t>(columns.data());
  const size_t parents_end = kTable + size_t{value_at<uint32_t>(columns.data() + kFirstBytes)};
  const size_t depths_end = parents_end + value_at<uint32_t>(columns.data() + kFirstBytes + sizeof(uint32_t));
  if (depths_end > columns.size()) return false;
  const uint8_t* const at = columns.data();
  CodeLane parents{at + kTable, at + parents_end}, depths{at + parents_end, at + depths_end},
      pc_codes{at + depths_end, at + columns.size()};
  payload.resize(payload_bytes);
  std::memcpy(payload.data(), &first, sizeof first);
  uint8_t* const nodes = payload.data() + kFirstBytes;
  std::vector<uint64_t> pcs;
  bool ok = true;
  for (size_t i = 0; kFirstBytes + i * sizeof(penna_stack_node) < payload_bytes && ok; ++i) {
    penna_stack_node node;
    node.parent = take_difference(parents, static_cast<uint32_t>(first + i - 1), ok);
    node.depth_flags = take_difference(depths, expected_depth(nodes, i, first, node.parent), ok);
    const uint64_t number = take_varint(pc_codes, ok);
    if (number > pcs.size()) return false;
    if (number == 0) pcs.push_back((pcs.empty() ? 0 : pcs.back()) + unzigzag(take_varint(pc_codes, ok)));
    node.pc_generation = number == 0 ? pcs.back() : pcs[number - 1];
    std::memcpy(nodes + i * sizeof node, &node, sizeof node);
  }
  return ok && parents.at == parents.end && depths.at == depths.end && pc_codes.at == pc_codes.end;
}

}  // namespace penna
