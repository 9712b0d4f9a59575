// SPDX-License-Identifier: MIT
// See cycles.h.
#include "model/locks/cycles.h"

#include <algorithm>

#include "base/hash.h"

namespace penna {
namespace {

constexpr uint32_t kUnseen = UINT32_MAX;

// Tarjan's algorithm, with an explicit stack instead of recursion.
class ComponentFinder {
 public:
  explicit ComponentFinder(const Graph& graph)
      : graph_(graph), order_(graph.size(), kUnseen), low_(graph.size()), component_(graph.size(), kUnseen) {}

  std::vector<uint32_t> find() {
    for (uint32_t node = 0; node < graph_.size(); ++node)
      if (order_[node] == kUnseen) visit_from(node);
    return std::move(component_);
  }

 private:
  struct Step {
    uint32_t node;
    size_t edge;  // next
  };
  void open(uint32_t node) {
    order_[node] = low_[node] = next_++;
    pending_.push_back(node);
    path_.push_back({node, 0});
  }
  void visit_from(uint32_t root) {
    open(root);
    while (!path_.empty()) {
      Step& step = path_.back();
      const uint32_t node = step.node;
      if (step.edge == graph_[node].size()) {
        close(node);
        continue;
      }
      const uint32_t to = graph_[node][step.edge++];
      if (order_[to] == kUnseen) {
        open(to);
      } else if (component_[to] == kUnseen) {
        low_[node] = std::min(low_[node], order_[to]);
      }
    }
  }
  void close(uint32_t node) {
    path_.pop_back();
    if (!path_.empty()) low_[path_.back().node] = std::min(low_[path_.back().node], low_[node]);
    if (low_[node] != order_[node]) return;
    for (uint32_t member = kUnseen; member != node;) {
      member = pending_.back();
      pending_.pop_back();
      component_[member] = components_;
    }
    ++components_;
  }

  const Graph& graph_;
  std::vector<uint32_t> order_, low_, component_, pending_;
  std::vector<Step> path_;
  uint32_t next_ = 0, components_ = 0;
};

}  // namespace

std::vector<uint32_t> strong_components(const Graph& graph) { return ComponentFinder(graph).find(); }

std::vector<uint32_t> shortest_cycle(const Graph& graph, const std::vector<uint32_t>& components, uint32_t from) {
  NumberMap<uint32_t> came_from;
  std::vector<uint32_t> queue{from};
  for (size_t at = 0; at < queue.size(); ++at) {
    for (const uint32_t to : graph[queue[at]]) {
      if (to == from) {
        std::vector<uint32_t> cycle;
        for (uint32_t node = queue[at]; node != from; node = came_from[node]) cycle.push_back(node);
        cycle.push_back(from);
        std::reverse(cycle.begin(), cycle.end());
        return cycle;
      }
      if (components[to] == components[from] && came_from.try_emplace(to, queue[at]).second) queue.push_back(to);
    }
  }
  return {};
}

}  // namespace penna
