// SPDX-License-Identifier: MIT
// See flame_tree.h.
#include "view/answers/flame_tree.h"

namespace penna {

FlameTree::Node& FlameTree::node_of(std::span<const std::string_view> frames) {
  uint32_t node = 0;
  for (size_t i = 0; i < frames.size(); ++i) {
    const uint32_t name = names_.id(frames[is_reversed_ ? frames.size() - 1 - i : i]);
    const auto [found, is_new] = children_.try_emplace(pair_key(node, name), static_cast<uint32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({node, name});
    node = found->second;
  }
  return nodes_[node];
}

std::string FlameTree::answer(const char* unit, NameIds& ids) {
  constexpr uint64_t kSmallest = 4000;  // a node has at least this part of the total
  for (Node& node : nodes_) node.total = node.self;
  for (size_t i = nodes_.size() - 1; i > 0; --i) {
    nodes_[nodes_[i].parent].total += nodes_[i].total;
    nodes_[nodes_[i].parent].before += nodes_[i].before;
    if (is_reversed_) nodes_[nodes_[i].parent].count += nodes_[i].count;
  }
  const uint64_t all = nodes_[0].total, all_before = nodes_[0].before;
  std::vector<int32_t> numbers(nodes_.size(), -1);  // in the answer
  FlameColumns columns;
  std::vector<double> before;
  uint64_t left_out = 0;
  for (size_t i = 1; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    const bool has_parent = node.parent == 0 || numbers[node.parent] >= 0;
    if (!has_parent) continue;
    if (node.total < all / kSmallest && node.before <= all_before / kSmallest) {
      left_out += node.total;
      continue;
    }
    numbers[i] = columns.size();
    columns.add(node.parent == 0 ? -1 : numbers[node.parent], ids.id(names_.name(node.name)),
                static_cast<double>(node.total), static_cast<double>(node.self), static_cast<double>(node.count));
    before.push_back(static_cast<double>(node.before));
  }
  ColumnAnswer answer = columns.answer();
  if (compares_) answer.add("before", before);
  return answer.text([&](JsonWriter& json) {
    json.field("names", ids.size());
    json.field("unit", unit);
    json.field("total", all);
    json.field("left_out", left_out);
    if (compares_) json.field("total_before", all_before);
  });
}

}  // namespace penna
