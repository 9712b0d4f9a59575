// SPDX-License-Identifier: MIT
// SpanQuery: which spans of a SpanTree a view shows, one by one and in sums, reading no more nodes than its pixels
// need.
//
// Invariant: of the spans that begin in the view, each is in one of both; those that began before it are shown when
// they reach into it and last a pixel or more. Of a node that is damaged, or of chunks that cannot be read, there is
// nothing, and it is counted.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "view/span_tree.h"
#include "view/track_answers.h"

namespace penna {

// Where nodes are read from. Not thread-safe: keeps those that were read last.
class NodeReader {
 public:
  using Load = std::function<bool(const NodeRef&, std::vector<uint8_t>*)>;
  explicit NodeReader(Load load) : load_(std::move(load)) {}

  // Null: it is damaged.
  std::shared_ptr<const SpanNode> read(const NodeRef& ref);
  uint64_t damaged() const { return damaged_; }

 private:
  struct Kept {
    uint64_t offset;
    std::shared_ptr<const SpanNode> node;
    size_t bytes;
  };
  static constexpr size_t kMostBytes = size_t{64} << 20;
  Load load_;
  std::vector<uint8_t> bytes_;
  std::list<Kept> kept_;  // the newest first
  std::unordered_map<uint64_t, std::list<Kept>::iterator> by_offset_;
  size_t kept_bytes_ = 0;
  uint64_t damaged_ = 0;
};

using SpanVisitor = std::function<void(const Span&)>;
// Reads the spans of a leaf from its chunks.
using ReadChunks = std::function<void(const SpanNode::Chunks&, const SpanVisitor&)>;

struct SpanTree {
  NodeRef root{};
  NodeReader* nodes = nullptr;
  ReadChunks of_chunks{};
};

struct ViewedSpans {
  std::vector<Span> shown;  // by row and start
  std::vector<SpanSum> sums;
};
ViewedSpans look_at(const SpanTree& tree, const PixelView& view);

// The next or the last one of these names, which rise; the longest is known without.
std::optional<Span> find_span(const SpanTree& tree, const std::vector<uint32_t>& names, const InstanceChoice& choice);

}  // namespace penna
