// SPDX-License-Identifier: MIT
// See call_tree.h.
#include "model/calls/call_tree.h"

#include <algorithm>

#include "model/calls/thread_calls.h"

namespace penna {

struct CallTree::ThreadState : ThreadCalls {
  using ThreadCalls::ThreadCalls;
  std::vector<FunctionId> functions;  // by slot
  uint32_t root = 0;                  // parent node of this thread's outermost calls
};

// The tag of an open call is its node: a call's parent is found without a look-up.
struct CallTree::Observer {
  CallTree& tree;
  ThreadState& thread;

  [[gnu::always_inline]] void on_enter(OpenCall& call, size_t depth) {
    if (call.slot == thread.functions.size())
      thread.functions.push_back(tree.functions_.intern(thread.process, call.pc, call.begin));
    const auto& stack = thread.matcher.stack();
    const uint32_t parent = depth == 0 ? thread.root : stack[depth - 1].tag;
    call.tag = tree.child(parent, thread.functions[call.slot], thread.thread);
    // When the tree is full, the call's node is the parent's: the call's time counts there, the call itself does not.
    if (call.tag != parent) tree.nodes_[call.tag].calls += !call.inherited;
  }

  void on_leave(const OpenCall& call, uint64_t end, CallEnd, size_t) {
    const uint64_t duration = end - call.begin;
    tree.nodes_[call.tag].self += duration - std::min(duration, call.inner);
  }
};

CallTree::CallTree(const Recording& recording, const CodeMap& map, bool by_thread)
    : map_(map), by_thread_(by_thread), functions_(map), nodes_(1), threads_(recording.threads().size()) {}
CallTree::~CallTree() = default;

// The node of a function below a parent. When the tree is full (kMaxNodes) a call counts as part of its caller. A small
// cache sits before the map: programs call the same few functions over and over.
uint32_t CallTree::child(uint32_t parent, FunctionId function, uint32_t thread) {
  const uint64_t key = pair_key(parent, function);
  Known& known = known_[key * 0x9e3779b97f4a7c15 >> 54];
  if (known.key == key && known.node != 0) [[likely]]
    return known.node;
  if (auto found = children_.find(key); found != children_.end()) {
    known = {key, found->second};
    return found->second;
  }
  if (nodes_.size() >= kMaxNodes) {
    ++folded_;
    return parent;
  }
  const auto node = static_cast<uint32_t>(nodes_.size());
  children_.emplace(key, node);
  nodes_.push_back({parent, by_thread_ ? thread : kNoIndex, function, nodes_[parent].depth + 1, 0, 0, 0});
  return node;
}

template <typename Some>
void CallTree::add(const Some& some) {
  auto& state = threads_[some.thread];
  if (!state) {
    state = std::make_unique<ThreadState>(some, map_);
    if (by_thread_) {
      state->root = static_cast<uint32_t>(nodes_.size());
      nodes_.push_back({0, some.thread, kNoFunction, 0, 0, 0, 0});
    }
  }
  state->add(some, functions_, Observer{*this, *state});
}
template void CallTree::add(const Event& some);
template void CallTree::add(const CallRun& some);

// The node of the thread's innermost open call, for events that happen inside it; 0: no call is open.
uint32_t CallTree::current(uint32_t thread) const {
  const auto& state = threads_[thread];
  if (!state) return 0;
  const auto& stack = state->matcher.stack();
  return stack.empty() ? state->root : stack.back().tag;
}

void CallTree::finish() {
  for (auto& thread : threads_)
    if (thread) thread->finish(Observer{*this, *thread});
  for (CallNode& node : nodes_) node.total = node.self;
  // Children have higher numbers than their parents: one pass from the end sums up everything.
  for (size_t i = nodes_.size(); i-- > 1;) nodes_[nodes_[i].parent].total += nodes_[i].total;
}

// Nodes come in the order in which their calls were made first: parents before their children, as everywhere.
bool CallTree::merge(const CallTree& part) {
  std::vector<FunctionId> functions;  // by function of the part
  for (FunctionId function = 0; function < part.functions_.size(); ++function)
    functions.push_back(functions_.intern(part.functions_.place(function)));
  std::vector<uint32_t> at(part.nodes_.size());  // by node of the part
  for (size_t i = 1; i < at.size(); ++i) {
    const CallNode& from = part.nodes_[i];
    if (from.function == kNoFunction) {
      at[i] = static_cast<uint32_t>(nodes_.size());
      nodes_.push_back({0, from.thread, kNoFunction, 0, 0, 0, 0});
    } else {
      at[i] = child(at[from.parent], functions[from.function], from.thread);
    }
    nodes_[at[i]].calls += from.calls;
    nodes_[at[i]].self += from.self;
  }
  return folded_ == 0 && part.folded_ == 0;
}

std::vector<std::vector<uint32_t>> CallTree::children() const {
  std::vector<std::vector<uint32_t>> result(nodes_.size());
  for (uint32_t i = 1; i < nodes_.size(); ++i) result[nodes_[i].parent].push_back(i);
  for (auto& list : result)
    std::stable_sort(list.begin(), list.end(),
                     [this](uint32_t a, uint32_t b) { return nodes_[a].total > nodes_[b].total; });
  return result;
}

}  // namespace penna
