// SPDX-License-Identifier: MIT
// Flame: stacks with a weight as an icicle: each function below its caller, as wide as its share of the total.
//
//   [all 1.23 s of calls                                                       ]
//   [main 100 %                                                                ]
//   [parse 61.0 %                              ][write 30.5 %         ]
//   [lex 40.1 %                   ][...(7)]     [flush 30.5 %         ]
//
// The part of a frame with nothing below it is its own. Frames too narrow for a word are combined: "...(7)".
// Usage: add() each stack; print() once.
// Invariant: a frame lies within its caller's columns; the widest come first, from the left. Names are cut by columns,
// never within a character.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "report/print.h"
#include "report/table.h"

namespace penna {

struct FlameStyle {
  size_t width = 80;   // columns, at least 20
  bool color = false;  // frames are coloured fields, else in brackets
  bool ascii = true;   // except names
};

// What the weights are: "1.23 s of calls".
struct FlameUnit {
  CellKind kind;
  const char* noun;
};

class Flame {
 public:
  static constexpr size_t kMaxRows = 200;

  // `frames`: outermost first.
  void add(std::span<const std::string_view> frames, uint64_t weight);
  // False if the sink returned false. Prints a sentence if there is no weight.
  bool print(const FlameStyle& style, const FlameUnit& unit, const TextSink& sink);

 private:
  struct Node {
    uint32_t parent, name;
    uint64_t total = 0;
    std::vector<uint32_t> children;  // widest first, once sorted
  };
  // A field in a row: a node, or a caller's callees that are too narrow.
  struct Frame {
    uint32_t node = 0;
    size_t merged = 0;          // 0: the node itself
    size_t begin = 0, end = 0;  // columns
    uint64_t total = 0;
  };
  uint32_t child(uint32_t parent, std::string_view name);
  void sum_up();
  std::vector<Frame> below(const Frame& frame) const;
  std::string row(const std::vector<Frame>& frames, const FlameStyle& style, const std::string& all) const;
  std::string label(const Frame& frame, size_t room, const FlameStyle& style, const std::string& all) const;

  std::vector<Node> nodes_ = {{0, 0, 0, {}}};
  std::vector<std::string> names_ = {"all"};
  TextMap<uint32_t> numbers_;
  NumberMap<uint32_t> children_;  // parent, name -> node
};

}  // namespace penna
