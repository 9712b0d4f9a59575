// SPDX-License-Identifier: MIT
// See function_sums.h.
#include "export/calls/function_sums.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/hash.h"

namespace penna {
namespace {

class Sums {
 public:
  explicit Sums(FunctionSums& out) : out_(out) {}

  EdgeSum& edge(uint32_t caller, uint32_t callee) {
    auto [found, added] = edge_at_.try_emplace(pair_key(caller, callee), static_cast<uint32_t>(out_.edges.size()));
    if (added) out_.edges.push_back({caller, callee});
    return out_.edges[found->second];
  }
  void finish() {
    std::sort(out_.edges.begin(), out_.edges.end(), [](const EdgeSum& a, const EdgeSum& b) {
      return std::pair(a.caller, a.callee) < std::pair(b.caller, b.callee);
    });
  }

 private:
  FunctionSums& out_;
  NumberMap<uint32_t> edge_at_;
};

// ---- Calls ----------------------------------------------------------------------------------------------------------

// Walks the tree from the outermost calls inwards and tracks which functions and edges are open: only the outermost of
// each counts towards totals.
class TreeWalk {
 public:
  TreeWalk(const CallTree& tree, FunctionSums& out, std::function<uint64_t(uint64_t calls, uint64_t ticks)> weight)
      : tree_(tree), out_(out), sums_(out), weight_(std::move(weight)), open_(tree.functions().size()) {}

  void run() {
    const std::vector<CallNode>& nodes = tree_.nodes();
    const std::vector<std::vector<uint32_t>> children = tree_.children();
    // Calls inside each node, including itself: parents come before their children.
    std::vector<uint64_t> calls(nodes.size());
    for (size_t i = nodes.size(); i-- > 1;) {
      calls[i] += nodes[i].calls;
      calls[nodes[i].parent] += calls[i];
    }
    struct Step {
      uint32_t node;
      bool leaves;
    };
    std::vector<Step> todo{{0, false}};
    while (!todo.empty()) {
      const auto [at, leaves] = todo.back();
      todo.pop_back();
      if (leaves) {
        leave(nodes[at]);
        continue;
      }
      if (nodes[at].function != kNoFunction) {
        enter(nodes[at], calls[at]);
        todo.push_back({at, true});
      }
      for (uint32_t child : children[at]) todo.push_back({child, false});
    }
    sums_.finish();
  }

 private:
  void enter(const CallNode& node, uint64_t calls_inside) {
    FunctionSum& function = out_.functions[node.function];
    const uint64_t self = weight_(node.calls, node.self), total = weight_(calls_inside, node.total);
    function.calls += node.calls;
    function.self += self;
    out_.all += self;
    if (open_[node.function]++ == 0) function.total += total;
    const FunctionId caller = tree_.nodes()[node.parent].function;
    if (caller == kNoFunction) return;
    EdgeSum& edge = sums_.edge(caller, node.function);
    edge.calls += node.calls;
    if (open_edges_[pair_key(caller, node.function)]++ == 0) edge.total += total;
  }
  void leave(const CallNode& node) {
    --open_[node.function];
    const FunctionId caller = tree_.nodes()[node.parent].function;
    if (caller != kNoFunction) --open_edges_[pair_key(caller, node.function)];
  }

  const CallTree& tree_;
  FunctionSums& out_;
  Sums sums_;
  std::function<uint64_t(uint64_t calls, uint64_t ticks)> weight_;
  std::vector<uint32_t> open_;  // by function: how many calls of it enclose the walk's current node
  NumberMap<uint32_t> open_edges_;
};

void sum_calls(const Recording& recording, Names& names, const CallTree& tree, FoldedWeight weight, FunctionSums& out) {
  for (FunctionId function = 0; function < tree.functions().size(); ++function) {
    // The function that was entered; those inlined there have no entry.
    const NameFrame& name = names.at(tree.functions().place(function)).back();
    out.functions.push_back({.name = name.function, .file = name.file, .line = name.line});
  }
  const double ns_per_tick = recording.time().ns_per_tick();
  TreeWalk(tree, out, [=](uint64_t calls, uint64_t ticks) {
    if (weight == FoldedWeight::kCalls) return calls;
    return static_cast<uint64_t>(std::llround(static_cast<double>(ticks) * ns_per_tick));
  }).run();
}

// ---- Stacks ---------------------------------------------------------------------------------------------------------

class StackSums {
 public:
  explicit StackSums(FunctionSums& out) : out_(out), sums_(out) {}

  void add(std::span<const std::string_view> frames, uint64_t weight) {
    numbers_.clear();
    for (std::string_view frame : frames) numbers_.push_back(number(frame));
    if (numbers_.empty()) return;
    out_.all += weight;
    out_.functions[numbers_.back()].self += weight;
    seen_.clear();
    for (size_t i = 0; i < numbers_.size(); ++i) {
      if (seen_.insert(pair_key(numbers_[i], UINT32_MAX)).second) out_.functions[numbers_[i]].total += weight;
      if (i == 0) continue;
      EdgeSum& edge = sums_.edge(numbers_[i - 1], numbers_[i]);
      if (seen_.insert(pair_key(numbers_[i - 1], numbers_[i])).second) edge.total += weight;
    }
  }
  void finish() { sums_.finish(); }

 private:
  uint32_t number(std::string_view name) {
    auto [found, added] = by_name_.try_emplace(std::string(name), static_cast<uint32_t>(out_.functions.size()));
    if (added) out_.functions.push_back({.name = found->first});
    return found->second;
  }

  FunctionSums& out_;
  Sums sums_;
  TextMap<uint32_t> by_name_;
  std::vector<uint32_t> numbers_;  // of the frames of one stack
  std::set<uint64_t> seen_;        // functions and edges of one stack
};

}  // namespace

FoldedReport sum_functions(const Recording& recording, Names& names, const FoldedOptions& options, FunctionSums& sums,
                           const std::function<void(uint64_t)>& step) {
  if (classes_of(options.weight) != kCallEvents) {
    StackSums stacks(sums);
    const StackVisitor add = [&](std::span<const std::string_view> frames, uint64_t weight) {
      return stacks.add(frames, weight), true;
    };
    FoldedReport report = fold_stacks(recording, names, options, add, step);
    stacks.finish();
    return report;
  }
  CallTree tree(recording, names.map(), false);
  FoldedReport report = read_calls(recording, tree, step);
  sum_calls(recording, names, tree, options.weight, sums);
  return report;
}

}  // namespace penna
