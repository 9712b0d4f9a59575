// SPDX-License-Identifier: MIT
// See inversions.h.
#include "model/locks/inversions.h"

#include <algorithm>

namespace penna {
namespace {

bool has_gate(const OrderEdge& edge, uint32_t lock) {
  return std::find(edge.gates.begin(), edge.gates.end(), lock) != edge.gates.end();
}

// Whether no two threads can be at these two places at the same time.
bool exclude_each_other(const OrderEdge& a, const OrderEdge& b) {
  if (has_gate(a, b.from) || has_gate(b, a.from)) return true;
  return std::any_of(a.gates.begin(), a.gates.end(), [&](uint32_t gate) { return has_gate(b, gate); });
}

// Assigns each edge a thread of its own, along augmenting paths. Edges with more threads than are listed always find
// one.
class ThreadMatcher {
 public:
  ThreadMatcher(const std::vector<OrderEdge>& edges, const std::vector<uint32_t>& cycle)
      : edges_(edges), cycle_(cycle) {}

  bool match_all() {
    for (size_t i = 0; i < cycle_.size(); ++i) {
      tried_.clear();
      if (!match(i)) return false;
    }
    return true;
  }

 private:
  bool match(size_t at) {
    const OrderEdge& edge = edges_[cycle_[at]];
    if (edge.more_threads) return true;
    for (uint32_t i = 0; i < edge.listed_threads; ++i) {
      const uint32_t thread = edge.threads[i];
      if (std::find(tried_.begin(), tried_.end(), thread) != tried_.end()) continue;
      tried_.push_back(thread);
      const auto taken =
          std::find_if(pairs_.begin(), pairs_.end(), [&](const auto& one) { return one.first == thread; });
      if (taken == pairs_.end()) {
        pairs_.push_back({thread, at});
        return true;
      }
      const size_t index = static_cast<size_t>(taken - pairs_.begin());
      if (match(pairs_[index].second)) {
        pairs_[index].second = at;
        return true;
      }
    }
    return false;
  }

  const std::vector<OrderEdge>& edges_;
  const std::vector<uint32_t>& cycle_;
  std::vector<std::pair<uint32_t, size_t>> pairs_;  // thread, place in the cycle
  std::vector<uint32_t> tried_;
};

}  // namespace

std::vector<Inversion> InversionFinder::find() {
  Graph graph(locks_);
  out_.resize(locks_);
  paired_.resize(edges_.size());
  for (uint32_t i = 0; i < edges_.size(); ++i) {
    graph[edges_[i].from].push_back(edges_[i].to);
    out_[edges_[i].from].push_back(i);
  }
  components_ = strong_components(graph);
  has_cycle_.resize(locks_);
  find_pairs();
  find_short();
  find_long();
  std::stable_sort(found_.begin(), found_.end(), [](const Inversion& a, const Inversion& b) {
    if (a.one_thread != b.one_thread) return b.one_thread;
    return a.edges.size() < b.edges.size();
  });
  return std::move(found_);
}

void InversionFinder::find_pairs() {
  NumberMap<uint32_t> index;
  for (uint32_t i = 0; i < edges_.size(); ++i) {
    const OrderEdge& edge = edges_[i];
    if (components_[edge.from] != components_[edge.to]) continue;
    index[pair_key(edge.from, edge.to)] = i;
    const auto back = index.find(pair_key(edge.to, edge.from));
    if (back == index.end()) continue;
    has_cycle_[components_[edge.from]] = true;
    if (judge({back->second, i})) paired_[back->second] = paired_[i] = true;
  }
}

// Cycles of three or more, each from its lowest lock.
void InversionFinder::find_short() {
  Cycle path;
  for (uint32_t start = 0; start < locks_ && !is_cut_; ++start) extend(start, path);
}

void InversionFinder::extend(uint32_t start, Cycle& path) {
  const uint32_t end = path.empty() ? start : edges_[path.back()].to;
  for (const uint32_t i : out_[end]) {
    const uint32_t to = edges_[i].to;
    if (paired_[i] || to < start || components_[to] != components_[start]) continue;
    if (++steps_ > kMostSteps) {
      is_cut_ = true;
      return;
    }
    path.push_back(i);
    if (to == start) {
      if (path.size() > 2) {
        has_cycle_[components_[start]] = true;
        judge(path);
      }
    } else if (path.size() < kLongest && !on_path(path, to)) {
      extend(start, path);
    }
    path.pop_back();
    if (is_cut_) return;
  }
}

bool InversionFinder::on_path(const Cycle& path, uint32_t lock) const {
  return std::any_of(path.begin(), path.end(), [&](uint32_t edge) { return edges_[edge].from == lock; });
}

// For groups of locks that only longer cycles connect: one of the shortest through the first of them.
void InversionFinder::find_long() {
  Graph graph(locks_);
  for (const OrderEdge& edge : edges_)
    if (components_[edge.from] == components_[edge.to]) graph[edge.from].push_back(edge.to);
  for (uint32_t lock = 0; lock < locks_; ++lock) {
    if (graph[lock].empty() || has_cycle_[components_[lock]]) continue;
    has_cycle_[components_[lock]] = true;
    const std::vector<uint32_t> way = shortest_cycle(graph, components_, lock);
    Cycle cycle;
    for (size_t i = 0; i < way.size(); ++i)
      for (const uint32_t edge : out_[way[i]])
        if (edges_[edge].to == way[(i + 1) % way.size()]) cycle.push_back(edge);
    if (!cycle.empty()) judge(cycle);
  }
}

// True if it is listed, or another one with the same stacks.
bool InversionFinder::judge(const Cycle& cycle) {
  if (!waits(cycle)) {
    ++of_readers_;
    return false;
  }
  if (is_gated(cycle)) {
    ++gated_;
    return false;
  }
  list(cycle, !has_threads(cycle));
  return true;
}

void InversionFinder::list(const Cycle& cycle, bool one_thread) {
  bool known = true;
  std::vector<std::string> parts;
  for (const uint32_t i : cycle) {
    const OrderEdge& edge = edges_[i];
    known &= edge.from_stack != 0 && edge.to_stack != 0;
    parts.push_back(std::to_string(edge.from_stack) + ' ' + std::to_string(edge.to_stack) + ' ');
  }
  // Independent of where the cycle starts.
  std::rotate(parts.begin(), std::min_element(parts.begin(), parts.end()), parts.end());
  std::string key = std::to_string(held_.objects()[edges_[cycle[0]].from].process) + (one_thread ? " 1 " : " 2 ");
  for (const std::string& part : parts) key += part;
  if (const auto same = by_stacks_.find(key); known && same != by_stacks_.end()) {
    ++found_[same->second].alike;
    return;
  }
  if (found_.size() == LockOrder::kMostInversions) {
    is_cut_ = true;
    return;
  }
  if (known) by_stacks_[key] = static_cast<uint32_t>(found_.size());
  found_.push_back({cycle, one_thread, 0});
}

bool InversionFinder::is_gated(const Cycle& cycle) const {
  for (size_t i = 0; i < cycle.size(); ++i)
    for (size_t j = i + 1; j < cycle.size(); ++j)
      if (exclude_each_other(edges_[cycle[i]], edges_[cycle[j]])) return true;
  return false;
}

// Whether every thread in the cycle can be made to wait: at each lock, the holder or the thread asking for it is not a
// reader.
bool InversionFinder::waits(const Cycle& cycle) const {
  // Bit 0, 1: the edges so far are possible with the last one asking for its lock exclusively, shared.
  for (uint32_t first = 0; first < 4; ++first) {
    if ((edges_[cycle[0]].modes >> first & 1) == 0) continue;
    uint32_t asked = 1u << (first & 1);
    for (size_t i = 1; i < cycle.size(); ++i) {
      uint32_t next = 0;
      for (uint32_t mode = 0; mode < 4; ++mode) {
        const bool held_shared = mode >> 1 != 0;
        if ((edges_[cycle[i]].modes >> mode & 1) != 0 && (asked & (held_shared ? 1u : 3u)) != 0)
          next |= 1u << (mode & 1);
      }
      asked = next;
    }
    const bool held_shared = first >> 1 != 0;
    if ((asked & (held_shared ? 1u : 3u)) != 0) return true;
  }
  return false;
}

bool InversionFinder::has_threads(const Cycle& cycle) const { return ThreadMatcher(edges_, cycle).match_all(); }

}  // namespace penna
