// SPDX-License-Identifier: MIT
// TimeOrder: calls from left to right as they happened, for each thread: adjacent calls with the same name are one
// node, and so are their callees.
//
// Why separate from FlameTree: that merges everything with the same path; here a function occurs again if it was called
// again later.
// Invariant: the time of all nodes is that of the outermost calls; calls too short to be seen are part of their caller,
// and their sum is reported.
// Memory: one node per `smallest` ns and depth, however many calls there are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/names/names.h"
#include "model/timeline/timeline.h"
#include "view/tracks/name_ids.h"

namespace penna {

class TimeOrder {
 public:
  static constexpr size_t kMostDepths = 500;  // deeper calls are part of their callers

  explicit TimeOrder(int64_t smallest) : smallest_(smallest) {}

  // All calls of a thread, below a node with that name; empty: below the root.
  void read(const Recording& recording, Names& names, uint32_t thread, const std::string& name);
  // Like FlameTree::answer().
  std::string answer(NameIds& ids);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Node {
    uint32_t parent = 0, name = 0;
    uint32_t last = kNone;  // child that the next call may still be merged into
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
  size_t too_deep_ = 0;  // number of open calls beyond the limit
};

}  // namespace penna
