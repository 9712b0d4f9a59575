// SPDX-License-Identifier: MIT
// See stack_store.h.
#include "recording/stack_store.h"

#include <algorithm>
#include <iterator>

namespace penna {

void StackStore::add(uint32_t first, std::span<const penna_stack_node> nodes) {
  nodes = nodes.first(std::min<uint64_t>(nodes.size(), (uint64_t{1} << 32) - first));
  uint64_t id = first;
  while (!nodes.empty()) {
    // The part within one segment, or in the gap up to the next one.
    auto next = segments_.upper_bound(static_cast<uint32_t>(id));
    if (next != segments_.begin()) {
      auto& [begin, values] = *std::prev(next);
      if (id - begin < values.size()) {
        size_t count = std::min<size_t>(nodes.size(), values.size() - (id - begin));
        for (size_t i = 0; i < count; ++i)
          if (nodes[i].pc_generation != 0) values[id - begin + i] = nodes[i];
        nodes = nodes.subspan(count);
        id += count;
        continue;
      }
    }
    size_t room = next == segments_.end() ? nodes.size() : next->first - id;
    auto part = nodes.first(std::min(nodes.size(), room));
    add_run(static_cast<uint32_t>(id), part);
    nodes = nodes.subspan(part.size());
    id += part.size();
  }
}

// `nodes` overlap no segment: they extend the one that ends there, or form a new one.
void StackStore::add_run(uint32_t first, std::span<const penna_stack_node> nodes) {
  auto next = segments_.upper_bound(first);
  if (next != segments_.begin()) {
    auto& [begin, values] = *std::prev(next);
    if (first - begin == values.size()) {
      values.insert(values.end(), nodes.begin(), nodes.end());
      return;
    }
  }
  segments_.emplace(first, std::vector<penna_stack_node>(nodes.begin(), nodes.end()));
}

const penna_stack_node* StackStore::find(uint32_t id) const {
  auto next = segments_.upper_bound(id);
  if (next == segments_.begin()) return nullptr;
  const auto& [begin, values] = *std::prev(next);
  if (id - begin >= values.size() || values[id - begin].pc_generation == 0) return nullptr;
  return &values[id - begin];
}

std::optional<uint32_t> StackStore::next(uint32_t id) const {
  auto segment = segments_.upper_bound(id);
  if (segment != segments_.begin()) --segment;
  for (; segment != segments_.end(); ++segment) {
    const auto& [begin, values] = *segment;
    for (size_t at = id > begin ? id - begin : 0; at < values.size(); ++at)
      if (values[at].pc_generation != 0) return static_cast<uint32_t>(begin + at);
  }
  return std::nullopt;
}

uint64_t StackStore::count() const {
  uint64_t sum = 0;
  for (const auto& segment : segments_) sum += segment.second.size();
  return sum;
}

}  // namespace penna
