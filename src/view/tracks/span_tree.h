// SPDX-License-Identifier: MIT
// SpanTree: spans of time (calls, waits, holds, points) for every zoom, in nodes that are written once complete.
//
//   node ............................................   its longest spans one by one, all others in sums by row, time
//     child ............. child ............. child
//       leaf  leaf  leaf    leaf  leaf          leaf    a run of chunks, or the spans themselves
//
// Why a tree: a view uses the nodes that are finer than its pixels, and reads no deeper; a span of a pixel or more is
// among the longest of such a node, or the node is not used. docs/decisions/0042-an-index-beside-the-recording.md has
// the math. A span belongs to the lowest node that contains all of it: to a leaf, if it neither begins before nor ends
// after it.
// Times are nanoseconds since the recording's first event.
// Invariant: the spans of a node are its own, and those of its children; `kept` and `sums` are all of them, each once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "view/tracks/packed_numbers.h"

namespace penna {

// Sums of times from hostile recordings may be anything, but not undefined behavior.
inline int64_t add_times(int64_t one, int64_t other) {
  return static_cast<int64_t>(static_cast<uint64_t>(one) + static_cast<uint64_t>(other));
}

struct Span {
  int64_t start = 0, duration = 0;
  uint32_t row = 0, name = 0;  // depth of a call; numbers of TrackNames
  uint8_t flags = 0;           // Slices::Flags
  int64_t end() const { return add_times(start, duration); }
  bool operator==(const Span&) const = default;
};

// Spans of one row that begin near each other.
struct SpanSum {
  int64_t first = 0, last = 0;  // beginnings of the first and the last; `last` is not stored
  int64_t last_end = 0;         // the latest end; unknown if there are names
  uint32_t row = 0;
  uint64_t count = 0;
  int64_t time = 0;
  // The name that took most time, as far as known: at least this much.
  uint32_t name = 0;
  int64_t name_time = 0;
  static SpanSum of(const Span& span) {
    return {span.start, span.start, span.end(), span.row, 1, span.duration, span.name, span.duration};
  }
  void add(const SpanSum& other);  // except for the name
};

// A node's place in the file, and the criteria for having to read it.
struct NodeRef {
  uint64_t offset = 0;
  uint32_t bytes = 0;                               // 0: no node
  int64_t begin = 0, last_start = 0, last_end = 0;  // of all its spans
  int64_t longest_summed = -1;                      // ns; longer ones are kept
  int64_t spread = 0;                               // ns between the first and the last beginning of a sum, at most
};

struct SpanNode {
  std::vector<Span> kept;       // by start
  std::vector<SpanSum> sums;    // by row and first
  std::vector<Span> own;        // in no child; in a leaf without chunks: all. By start
  std::vector<uint32_t> names;  // of all its spans, ascending; none if the tree keeps none
  std::vector<NodeRef> children;
  // For a leaf that is read from the recording's chunks: which ones of its thread, and the state where they begin.
  struct Chunks {
    uint32_t first = 0, end = 0;  // none: 0, 0
    uint64_t floor = 0;           // ticks: no event is earlier
    std::vector<uint32_t> open;   // calls by name, outermost first
    explicit operator bool() const { return first != end; }
  } chunks;
};

// The file format of a node; decoding returns nothing if `bytes` are not one. Safe with any bytes.
std::vector<uint8_t> encode_node(const SpanNode& node);
std::optional<SpanNode> decode_node(std::span<const uint8_t> bytes);
std::optional<SpanNode> read_node(NumberReader& in);  // after unpacking
void write_ref(NumberWriter& out, const NodeRef& ref);
NodeRef read_ref(NumberReader& in);

// Takes a thread's spans in the order in which they end. Memory: per level the kept spans, sums and names of its last
// eight nodes, and the spans that none of them contains.
class SpanTreeWriter {
 public:
  struct Shape {
    size_t kept;     // of a node
    bool has_names;  // sums have the name that took most, nodes the names that occur; else rows are names
  };
  // Stores a node's bytes; returns their place.
  using Store = std::function<uint64_t(std::span<const uint8_t>)>;
  SpanTreeWriter(const Shape& shape, Store store) : shape_(shape), store_(std::move(store)) {}

  uint64_t leaf() const { return leaf_; }
  // `begun_in`: the number of the leaf that was open when it began.
  void add(const Span& span, uint64_t begun_in);
  // If that is unknown: by its time.
  void add(const Span& span);
  size_t spans_in_leaf() const { return in_leaf().size(); }
  // Those that belong to no other node, in order of arrival.
  std::span<const Span> in_leaf() const { return levels_.empty() ? std::span<const Span>() : levels_[0].own; }
  // `begin`: of the next leaf, to which no earlier span belongs. `chunks`: from which this leaf's spans can be read
  // again; none: they are written.
  void end_leaf(int64_t begin, SpanNode::Chunks chunks = {});
  // Returns the root; the writer is then finished.
  NodeRef finish();

 private:
  static constexpr unsigned kFanoutBits = 3;
  static constexpr size_t kCells = 16;
  struct Summary {
    NodeRef ref;
    std::vector<Span> kept;
    std::vector<SpanSum> sums;
    std::vector<uint32_t> names;
  };
  struct Level {
    int64_t begin = INT64_MIN;  // of the first leaf in its open node
    std::vector<Span> own;
    std::vector<Summary> children;
  };
  void put(size_t level, const Span& span);
  void close(size_t level, int64_t begin, SpanNode::Chunks chunks);
  void summarize(Level& level, SpanNode* node, NodeRef* ref) const;
  std::vector<SpanSum> sums_of(const std::vector<SpanSum>& all) const;

  const Shape shape_;
  const Store store_;
  uint64_t leaf_ = 0;
  std::vector<Level> levels_;  // leaves first
};

}  // namespace penna
