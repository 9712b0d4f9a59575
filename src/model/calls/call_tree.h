// SPDX-License-Identifier: MIT
// CallTree: calls by call path: one node for each chain of callers.
//
// Usage: like Calls. Node 0 is the root of all; with `by_thread` every thread has its own root below it.
// Invariant: parents come before their children; a node's `total` is its `self` plus the totals of its children.
// Memory: at most kMaxNodes; calls that would need more are added to their caller and counted in folded().
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "model/calls/call_matcher.h"
#include "model/events/events.h"
#include "model/names/code_map.h"

namespace penna {

struct CallNode {
  uint32_t parent = 0;
  uint32_t thread = kNoIndex;         // by_thread: set for every node but the first; else kNoIndex
  FunctionId function = kNoFunction;  // kNoFunction: node 0, and each thread's root
  uint32_t depth = 0;                 // 1 for the outermost functions
  uint64_t calls = 0;
  uint64_t total = 0;  // ticks, inclusive
  uint64_t self = 0;
};

class CallTree {
 public:
  static constexpr size_t kMaxNodes = 1 << 21;
  CallTree(const Recording& recording, const CodeMap& map, bool by_thread);
  ~CallTree();

  void operator()(const Event& event) {
    if (event.record.changes_calls()) add(event);
  }
  void operator()(const CallRun& run) { add(run); }
  void finish();
  // Adds what a finished `part` has of other threads, before finish(): as if this one had read these threads after its
  // own. False: there is no room for all of it, and this tree is of no use.
  bool merge(const CallTree& part);

  // The node of a thread's innermost open call; its root if no call is open.
  uint32_t current(uint32_t thread) const;

  const std::vector<CallNode>& nodes() const { return nodes_; }
  std::vector<std::vector<uint32_t>> children() const;  // by node, most total time first
  const FunctionTable& functions() const { return functions_; }
  uint64_t folded() const { return folded_; }

 private:
  struct ThreadState;
  struct Observer;
  template <typename Some>  // an Event or a CallRun
  void add(const Some& some);
  uint32_t child(uint32_t parent, FunctionId function, uint32_t thread);

  const CodeMap& map_;
  bool by_thread_;
  FunctionTable functions_;
  std::vector<CallNode> nodes_;
  NumberMap<uint32_t> children_;  // parent, function -> node
  struct Known {
    uint64_t key = 0;
    uint32_t node = 0;  // never the root: 0 = empty
  };
  std::array<Known, 1024> known_;  // cache of children_
  std::vector<std::unique_ptr<ThreadState>> threads_;
  uint64_t folded_ = 0;
};

}  // namespace penna
