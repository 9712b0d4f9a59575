// SPDX-License-Identifier: MIT
// TimeOrder: calls from left to right as they happened, each thread by itself: neighbours of one name are one node, and
// so are their callees.
//
// Why apart from FlameTree: that merges whatever has one path; here a function comes again when it was called again
// later.
// Invariant: the time of all nodes is that of the outermost calls; what is too short to be seen is in its caller, and
// its sum is told.
// Memory: a node for each `smallest` ns and depth, however many calls there are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/names/names.h"
#include "model/timeline/timeline.h"
#include "view/name_ids.h"

namespace penna {

class TimeOrder {
 public:
  static constexpr size_t kMostDepths = 500;  // deeper calls are part of their callers

  explicit TimeOrder(int64_t smallest) : smallest_(smallest) {}

  // All calls of a thread, below a node of that name; empty: below the root.
  void read(const Recording& recording, Names& names, uint32_t thread, const std::string& name);
  // As FlameTree::answer().
  std::string answer(NameIds& ids);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Node {
    uint32_t parent = 0, name = 0;
    uint32_t last = kNone;  // child, which the next call may still become part of
    int64_t total = 0;
    int64_t hidden = 0;  // of calls in it that were too short
    uint64_t count = 0;
  };
  void enter(uint32_t name);
  void leave(int64_t duration);
  void close(uint32_t node);

  const int64_t smallest_;
  NameIds names_;
  std::vector<Node> nodes_ = {{}};  // the first is the root; parents come before their children
  std::vector<uint32_t> open_;
  size_t too_deep_ = 0;  // of the open calls
};

}  // namespace penna
