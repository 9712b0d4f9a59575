// SPDX-License-Identifier: MIT
// FlameTree: stacks merged from their outermost frame on, or from their innermost, for the page's flame graphs.
//
// Invariant: a node's value is its own and that of all nodes below it; nodes too small to be seen are merged into their
// parent, and their sum is reported. A count is that of the path's last function: reversed, of the first one.
// Memory: one node per distinct path.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "view/tracks/columns.h"
#include "view/tracks/name_ids.h"

namespace penna {

// The columns of a tree's answer; a parent is added before its children. `parent`: number in order of adding, -1: none.
class FlameColumns {
 public:
  void add(int32_t parent, uint32_t name, double value, double self, double count) {
    parent_.push_back(parent);
    name_.push_back(name);
    value_.push_back(value);
    self_.push_back(self);
    count_.push_back(count);
  }
  int32_t size() const { return static_cast<int32_t>(parent_.size()); }
  ColumnAnswer answer() const {
    ColumnAnswer answer;
    answer.add("parent", parent_);
    answer.add("name", name_);
    answer.add("value", value_);
    answer.add("self", self_);
    answer.add("count", count_);
    return answer;
  }

 private:
  std::vector<int32_t> parent_;
  std::vector<uint32_t> name_;
  std::vector<double> value_, self_, count_;
};

class FlameTree {
 public:
  // `is_reversed`: the innermost frame is the root.
  explicit FlameTree(bool is_reversed) : is_reversed_(is_reversed) {}

  // `frames`: outermost first. add_count(): for stacks that were added before, or will be.
  void add(std::span<const std::string_view> frames, uint64_t weight) { node_of(frames).self += weight; }
  // The answer then includes the values of another recording: 0 where nothing is added.
  void compare() { compares_ = true; }
  void add_before(std::span<const std::string_view> frames, uint64_t weight) { node_of(frames).before += weight; }
  void add_count(std::span<const std::string_view> frames, uint64_t count) { node_of(frames).count += count; }

  // Columns (docs/view-protocol.md). `unit`: "ns", "bytes", "count". `ids`: the page's, which get the names.
  std::string answer(const char* unit, NameIds& ids);

 private:
  struct Node {
    uint32_t parent = 0, name = 0;
    uint64_t self = 0, count = 0, total = 0;
    uint64_t before = 0;  // its own; in the answer, including all nodes below it
  };
  Node& node_of(std::span<const std::string_view> frames);

  bool compares_ = false;
  NameIds names_;  // private, so that only answer() needs those that others use meanwhile
  const bool is_reversed_;
  std::vector<Node> nodes_ = {{}};  // the first is the root; parents come before their children
  NumberMap<uint32_t> children_;    // pair_key of parent and name
};

}  // namespace penna
