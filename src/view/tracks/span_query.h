// SPDX-License-Identifier: MIT
// SpanQuery: the spans of a SpanTree that a view shows, individually and in sums, reading no more nodes than its pixels
// need.
//
// Invariant: each span that begins in the view is in one of both; a span that began before it is shown if it reaches
// into it and lasts a pixel or more. A damaged node, or unreadable chunks, contribute nothing, and are counted.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "view/tracks/span_tree.h"
#include "view/tracks/track_answers.h"

namespace penna {

// Reads nodes. Not thread-safe: caches those read most recently.
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
  std::list<Kept> kept_;  // newest first
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

// The next or the previous span with one of these names, given in ascending order; the longest is known without.
std::optional<Span> find_span(const SpanTree& tree, const std::vector<uint32_t>& names, const InstanceChoice& choice);

}  // namespace penna
